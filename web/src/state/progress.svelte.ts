import { lessons } from "../content/index.ts";
import type { LessonId } from "../content/lesson.ts";
import type { Question } from "../content/question.ts";
import { forget, keep, stored } from "./storage.ts";

const key = "answered";

const nameOf = (lesson: LessonId, { id }: Question) => `${lesson}.${id}`;

const known = new Set(
  Object.values(lessons).flatMap(({ id, questions = [] }) =>
    questions.map((question) => nameOf(id, question)),
  ),
);

/** The questions that the reader answered right. Kept in this browser, and nowhere else. */
class Progress {
  #right = $state.raw<ReadonlySet<string>>(
    new Set(
      stored(key)
        ?.split(" ")
        .filter((name) => known.has(name)),
    ),
  );

  readonly any = $derived(this.#right.size > 0);

  isRight(lesson: LessonId, question: Question): boolean {
    return this.#right.has(nameOf(lesson, question));
  }

  /** How many of a lesson's questions were answered right. */
  count(lesson: LessonId): number {
    return (lessons[lesson].questions ?? []).filter((question) => this.isRight(lesson, question)).length;
  }

  mark(lesson: LessonId, question: Question): void {
    this.#right = new Set([...this.#right, nameOf(lesson, question)]);
    keep(key, [...this.#right].join(" "));
  }

  reset(): void {
    this.#right = new Set();
    forget(key);
  }
}

export const progress = new Progress();
