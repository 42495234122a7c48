import "./styles/index.css";
import { mount } from "svelte";
import LoadFailure from "./view/LoadFailure.svelte";

const target = document.getElementById("app");
if (target === null) throw new Error("no #app in index.html");

// Importing the app waits for the WebAssembly core; a failure arrives here, once.
try {
  const { default: App } = await import("./App.svelte");
  target.replaceChildren();
  mount(App, { target });
  keepForOffline();
} catch (error) {
  target.replaceChildren();
  mount(LoadFailure, { target, props: { reason: error instanceof Error ? error.message : String(error) } });
}

/** The page installs itself for when there is no network; in a frame it has no need to. */
function keepForOffline(): void {
  if (isSecureContext && "serviceWorker" in navigator && parent === window) {
    void navigator.serviceWorker.register("./sw.js");
  }
}
