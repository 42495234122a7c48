import { checkCausality, faultyAttention, randomNormal, type Tensor } from "softlookup";
import type { leakQuestions } from "../../content/questions/leak.ts";
import { defaults } from "../../state/inputs.ts";
import { indices } from "../figure.ts";
import { movedPositions } from "../sequence.ts";
import { type Answers, onlyCell } from "./answer.ts";

export const leakAnswers: Answers<typeof leakQuestions> = {
  "late-zeros": () => {
    const moved = movedPositions("mask-after-softmax", defaults).length;
    return { answer: moved > 0 ? "move" : "still", values: { moved } };
  },
  "one-cut": () => {
    const caught = (cut: number) => movedPositions("block-leak", { ...defaults, length: 8, cut }).length > 0;
    return { answer: caught(3) ? "caught" : "missed", values: { cuts: indices(7).filter(caught).length } };
  },
  shifted: async () => {
    const attend = (x: Tensor) => faultyAttention("diagonal-plus-one", x, x, x);
    const { influence } = await checkCausality(attend, randomNormal([4, 4], 1));
    // Which future token moves output 2: element (token, output) of the influence matrix.
    const seen = indices(16).map((index) => {
      const [query, key] = [Math.floor(index / 4), index % 4];
      return query === 2 && key > query ? (influence.data[key * 4 + query] ?? NaN) : 0;
    });
    return { answer: onlyCell(seen, 4) };
  },
};
