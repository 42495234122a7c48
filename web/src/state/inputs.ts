import type { Change, KeysOf } from "../compute/typed.ts";
import type { Codec, Field, Numbers } from "./codec.ts";
import { cacheFields, fitGenerated } from "./fields/cache.ts";
import { costFields, fitCost } from "./fields/cost.ts";
import { formulaFields } from "./fields/formula.ts";
import { fitHeads, headsFields } from "./fields/heads.ts";
import { fitSequence, leakFields } from "./fields/leak.ts";
import { lookupFields } from "./fields/lookup.ts";
import { fitMinimind, minimindFields } from "./fields/minimind.ts";
import { masksFields } from "./fields/masks.ts";
import { scaleFields } from "./fields/scale.ts";

/** What each lesson brings for the reader to change. */
const fields = {
  ...lookupFields,
  ...formulaFields,
  ...scaleFields,
  ...masksFields,
  ...cacheFields,
  ...headsFields,
  ...minimindFields,
  ...costFields,
  ...leakFields,
};

type Fields = typeof fields;

/** Everything that a reader can change. */
export type Inputs = {
  [Key in keyof Fields]: Fields[Key] extends Field<infer Value> ? Value : never;
};

export const inputKeys = Object.keys(fields) as (keyof Inputs)[];

const of = <Key extends keyof Inputs>(key: Key) => fields[key] as unknown as Field<Inputs[Key]>;

export const defaults = Object.fromEntries(inputKeys.map((key) => [key, of(key).initial])) as Inputs;

export const codecOf = <Key extends keyof Inputs>(key: Key): Codec<Inputs[Key]> => of(key).codec;

/** Takes away what no longer fits together. */
export const fitted = (inputs: Inputs): Inputs =>
  fitCost(fitMinimind(fitHeads(fitGenerated(fitSequence(inputs)))));

/** Writes one number of an input of numbers, row-major, `cols` to a row. */
export const writer =
  (key: KeysOf<Numbers>, cols: number, inputs: Inputs, change: Change) =>
  (row: number, col: number, value: number): void => {
    const index = row * cols + col;
    change({ [key]: inputs[key].with(index, value) }, `${key}.${String(index)}`);
  };

export function sameInput<Key extends keyof Inputs>(key: Key, one: Inputs, other: Inputs): boolean {
  return one[key] === other[key] || codecOf(key).write(one[key]) === codecOf(key).write(other[key]);
}

export function sameInputs(one: Inputs, other: Inputs): boolean {
  return inputKeys.every((key) => sameInput(key, one, other));
}
