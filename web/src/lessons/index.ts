import type { LessonId } from "../content/lesson.ts";
import type { LessonParts } from "./parts.ts";

/** Each lesson is loaded when it is reached, and waits for the core. */
const chunks: Readonly<Record<LessonId, () => Promise<{ default: LessonParts }>>> = {
  lookup: () => import("./lookup.ts"),
  formula: () => import("./formula.ts"),
  scale: () => import("./scale.ts"),
  masks: () => import("./masks.ts"),
  cache: () => import("./cache.ts"),
  heads: () => import("./heads.ts"),
  minimind: () => import("./minimind.ts"),
  cost: () => import("./cost.ts"),
  leak: () => import("./leak.ts"),
};

export const loadLesson = async (id: LessonId): Promise<LessonParts> => (await chunks[id]()).default;
