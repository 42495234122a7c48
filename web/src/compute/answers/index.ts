import type { LessonId } from "../../content/lesson.ts";
import type { Question } from "../../content/question.ts";
import type { Answer } from "./answer.ts";
import { cacheAnswers } from "./cache.ts";
import { costAnswers } from "./cost.ts";
import { formulaAnswers } from "./formula.ts";
import { headsAnswers } from "./heads.ts";
import { leakAnswers } from "./leak.ts";
import { lookupAnswers } from "./lookup.ts";
import { masksAnswers } from "./masks.ts";
import { minimindAnswers } from "./minimind.ts";
import { scaleAnswers } from "./scale.ts";

const answers: Readonly<Partial<Record<LessonId, Readonly<Record<string, () => Answer | Promise<Answer>>>>>> =
  {
    lookup: lookupAnswers,
    formula: formulaAnswers,
    scale: scaleAnswers,
    masks: masksAnswers,
    cache: cacheAnswers,
    heads: headsAnswers,
    minimind: minimindAnswers,
    cost: costAnswers,
    leak: leakAnswers,
  };

/** What the core says. */
export async function answerTo(lesson: LessonId, { id }: Question): Promise<Answer> {
  const find = answers[lesson]?.[id];
  if (find === undefined) throw new RangeError(`no answer to ${lesson}.${id}`);
  return find();
}

/** Is what the reader gave what the core says? */
export function isRight(question: Question, given: number | string, { answer }: Answer): boolean {
  if (question.kind !== "number") return given === answer;
  return Math.abs(Number(given) - Number(answer)) <= question.tolerance;
}
