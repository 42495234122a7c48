import { lessons } from "./index.ts";
import { type Lesson, type LessonId, lessonIds, type Step } from "./lesson.ts";

/** What the page knows of a lesson before it is loaded. */
export interface Outline extends Pick<Lesson, "id" | "title" | "question" | "parts"> {
  steps: readonly Pick<Step, "id" | "part" | "title">[];
  /** The ids of its questions. */
  questions: readonly string[];
}

function outlineOf({ id, title, question, parts, steps, questions = [] }: Lesson): Outline {
  return {
    id,
    title,
    question,
    ...(parts && { parts }),
    steps: steps.map(({ id, part, title }) => ({ id, title, ...(part !== undefined && { part }) })),
    questions: questions.map(({ id }) => id),
  };
}

/** Computed while building (see vite.config.ts): the page gets the result alone, and no lesson with it. */
export const outline = Object.fromEntries(
  lessonIds.map((id) => [id, outlineOf(lessons[id])]),
) as unknown as Readonly<Record<LessonId, Outline>>;
