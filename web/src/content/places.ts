import type { Place } from "./lesson.ts";
import { type Outline, outline } from "./outline.ts";

/** Every step of every lesson, in reading order. */
export const places: readonly Place[] = Object.values(outline).flatMap(({ id, steps }) =>
  steps.map((step) => ({ lesson: id, step: step.id })),
);

export function placeIndex(place: Place): number {
  return places.findIndex(({ lesson, step }) => lesson === place.lesson && step === place.step);
}

export function stepAt({ lesson, step }: Place): Outline["steps"][number] {
  const found = outline[lesson].steps.find(({ id }) => id === step);
  if (found === undefined) throw new RangeError(`no step ${step} in lesson ${lesson}`);
  return found;
}
