import type { LessonId } from "../content/lesson.ts";
import { outline } from "../content/outline.ts";
import { forget, keep, stored } from "./storage.ts";

const key = "answered";

const nameOf = (lesson: LessonId, question: string) => `${lesson}.${question}`;

const known = new Set(
  Object.values(outline).flatMap(({ id, questions }) => questions.map((question) => nameOf(id, question))),
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

  isRight(lesson: LessonId, question: string): boolean {
    return this.#right.has(nameOf(lesson, question));
  }

  /** How many of a lesson's questions were answered right. */
  count(lesson: LessonId): number {
    return outline[lesson].questions.filter((question) => this.isRight(lesson, question)).length;
  }

  mark(lesson: LessonId, question: string): void {
    this.#right = new Set([...this.#right, nameOf(lesson, question)]);
    keep(key, [...this.#right].join(" "));
  }

  reset(): void {
    this.#right = new Set();
    forget(key);
  }
}

export const progress = new Progress();
