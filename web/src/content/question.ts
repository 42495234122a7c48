import type { Text } from "./text.ts";

interface Asked {
  id: string;
  /** The step that it is asked at: before its answer is on the screen. */
  step: string;
  ask: Text;
  /** Shown with the answer; {names} are the core's numbers. */
  why: Text;
}

interface NumberQuestion extends Asked {
  kind: "number";
  /** How far from the core's number an answer may lie. */
  tolerance: number;
}

/** Asks for a cell of a matrix of `size` queries and as many keys. */
interface CellQuestion extends Asked {
  kind: "cell";
  size: number;
}

interface ChoiceQuestion extends Asked {
  kind: "choice";
  options: Readonly<Record<string, Text>>;
}

/** Something to predict; compute/answers has the answer. */
export type Question = NumberQuestion | CellQuestion | ChoiceQuestion;

export type IdOf<Questions extends readonly Question[]> = Questions[number]["id"];
