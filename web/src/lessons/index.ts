import type { Lesson, LessonId } from "../content/lesson.ts";
import type { Experiments } from "./experiments.ts";

/** A lesson's text, and apart from it its experiments, which wait for the core. */
interface Pieces {
  text: () => Promise<Lesson>;
  experiments: () => Promise<{ default: Experiments }>;
  /** Its first step without the core, where it has been recorded. */
  opening?: () => Promise<{ default: Experiments }>;
}

/** The text with its formulae. */
const text = async <Id extends LessonId>(
  id: Id,
  ...loading: readonly [Promise<Readonly<Record<Id, Lesson>>>, formulae: Promise<unknown>]
): Promise<Lesson> => (await Promise.all(loading))[0][id];

/** Every lesson, to be loaded when it is reached. */
export const lessons: Readonly<Record<LessonId, Pieces>> = {
  lookup: {
    text: () => text("lookup", import("../content/lookup.ts"), import("virtual:math/lookup")),
    experiments: () => import("./lookup.ts"),
    opening: () => import("./opening.ts"),
  },
  formula: {
    text: () => text("formula", import("../content/formula.ts"), import("virtual:math/formula")),
    experiments: () => import("./formula.ts"),
  },
  scale: {
    text: () => text("scale", import("../content/scale.ts"), import("virtual:math/scale")),
    experiments: () => import("./scale.ts"),
  },
  masks: {
    text: () => text("masks", import("../content/masks.ts"), import("virtual:math/masks")),
    experiments: () => import("./masks.ts"),
  },
  cache: {
    text: () => text("cache", import("../content/cache.ts"), import("virtual:math/cache")),
    experiments: () => import("./cache.ts"),
  },
  heads: {
    text: () => text("heads", import("../content/heads.ts"), import("virtual:math/heads")),
    experiments: () => import("./heads.ts"),
  },
  minimind: {
    text: () => text("minimind", import("../content/minimind.ts"), import("virtual:math/minimind")),
    experiments: () => import("./minimind.ts"),
  },
  cost: {
    text: () => text("cost", import("../content/cost.ts"), import("virtual:math/cost")),
    experiments: () => import("./cost.ts"),
  },
  leak: {
    text: () => text("leak", import("../content/leak.ts"), import("virtual:math/leak")),
    experiments: () => import("./leak.ts"),
  },
};
