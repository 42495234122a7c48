import "./styles/index.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { lessons } from "./lessons/index.ts";
import { reader } from "./state/reader.svelte.ts";
import { store } from "./state/store.svelte.ts";

/** What stands there already stays until the lesson can take its place. */
function start(): void {
  const target = document.getElementById("app");
  if (target === null) throw new Error("no #app in index.html");
  target.replaceChildren();
  mount(App, { target });
}
// No await: the lesson's modules need this one finished.
void lessons[store.place.lesson].text().then(start, start);
if (import.meta.env.MODE !== "single") void reader.arrival.then(keepForOffline);

/** The page installs itself for when there is no network; in a frame it has no need to. */
function keepForOffline(): void {
  if (isSecureContext && "serviceWorker" in navigator && parent === window) {
    // Fetching everything must not hold up the first lesson.
    setTimeout(() => {
      void navigator.serviceWorker.register("./sw.js");
    }, 3000);
  }
}
