import type { Place } from "../content/lesson.ts";
import { outline } from "../content/outline.ts";
import { placeIndex, places, stepAt } from "../content/places.ts";
import type { Language } from "../content/text.ts";
import { defaults, fitted, type Inputs, sameInputs } from "./inputs.ts";
import { readLink, writeLink } from "./url.ts";

/** Browsers slow a page down that rewrites its address at every keystroke. */
const addressDelay = 300;

/** The state of the page. It is the address: everything here can be read back from `search`. */
class Store {
  place = $state.raw<Place>() as Place;
  inputs = $state.raw<Inputs>(defaults);
  language = $state.raw<Language | undefined>();
  embedded = $state.raw(false);
  /** False when part of the address made no sense. */
  understood = $state.raw(true);

  #past = $state.raw<readonly Inputs[]>([]);
  #future = $state.raw<readonly Inputs[]>([]);
  /** What is being edited: keystrokes in one cell make one step of undo. */
  #tag: string | undefined;
  #pending: ReturnType<typeof setTimeout> | undefined;

  readonly lesson = $derived.by(() => outline[this.place.lesson]);
  readonly step = $derived.by(() => stepAt(this.place));
  readonly index = $derived.by(() => placeIndex(this.place));
  readonly previous = $derived.by(() => this.#neighbour(-1));
  readonly next = $derived.by(() => this.#neighbour(1));
  readonly search = $derived.by(() => this.linkTo(this.place));

  constructor(search: string) {
    this.#read(search);
    // In a task of its own: a browser takes a while over it.
    setTimeout(() => {
      this.#replaceAddress();
    });
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  get edited(): boolean {
    return !sameInputs(this.inputs, defaults);
  }

  /** The address of a place with the inputs as they are. */
  linkTo(place: Place, embedded = this.embedded): string {
    return writeLink({ place, inputs: this.inputs, language: this.language, embedded });
  }

  go(place: Place): void {
    this.#replaceAddress();
    this.place = place;
    this.understood = true;
    this.commit();
    history.pushState(null, "", this.search);
  }

  speak(language: Language): void {
    this.language = language;
    this.#replaceAddress();
  }

  edit(change: Partial<Inputs>, tag?: string): void {
    const changed = fitted({ ...this.inputs, ...change });
    if (sameInputs(changed, this.inputs)) return;
    if (tag === undefined || tag !== this.#tag) this.#past = [...this.#past, this.inputs];
    this.#tag = tag;
    this.#future = [];
    this.#apply(changed);
  }

  /** The edit at hand is finished; the next one can be undone apart from it. */
  commit(): void {
    this.#tag = undefined;
  }

  undo(): void {
    const previous = this.#past.at(-1);
    if (previous === undefined) return;
    this.#past = this.#past.slice(0, -1);
    this.#future = [...this.#future, this.inputs];
    this.commit();
    this.#apply(previous);
  }

  redo(): void {
    const next = this.#future.at(-1);
    if (next === undefined) return;
    this.#future = this.#future.slice(0, -1);
    this.#past = [...this.#past, this.inputs];
    this.commit();
    this.#apply(next);
  }

  reset(): void {
    this.edit(defaults);
  }

  /** The reader went back or forward in the browser. Inputs that this takes away can be had back by undo. */
  followAddress(): void {
    clearTimeout(this.#pending);
    const before = this.inputs;
    this.#read(location.search);
    if (!sameInputs(before, this.inputs)) {
      this.#past = [...this.#past, before];
      this.#future = [];
    }
    this.commit();
  }

  /** An embedded lesson ends with its last step. */
  #neighbour(distance: number): Place | undefined {
    const place = places[this.index + distance];
    return this.embedded && place?.lesson !== this.place.lesson ? undefined : place;
  }

  #read(search: string): void {
    const { link, understood } = readLink(search);
    this.place = link.place;
    this.inputs = link.inputs;
    this.language = link.language;
    this.embedded = link.embedded;
    this.understood = understood;
  }

  #apply(inputs: Inputs): void {
    this.inputs = inputs;
    clearTimeout(this.#pending);
    this.#pending = setTimeout(() => {
      this.#replaceAddress();
    }, addressDelay);
  }

  #replaceAddress(): void {
    clearTimeout(this.#pending);
    history.replaceState(null, "", this.search);
  }
}

export const store = new Store(location.search);
