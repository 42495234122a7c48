import type { Component } from "svelte";
import type { LessonId } from "../content/lesson.ts";
import MinimindPictures from "./minimind/Pictures.svelte";
import Outcome from "./Outcome.svelte";
import Reports from "./Reports.svelte";

/** What a lesson shows besides its matrices: above them and below. */
interface Panels {
  above?: Component;
  below?: Component;
}

export const panels: Readonly<Partial<Record<LessonId, Panels>>> = {
  minimind: { above: MinimindPictures },
  leak: { above: Outcome, below: Reports },
};
