import "./styles/index.css";
import { mount } from "svelte";
import App from "./App.svelte";

const target = document.getElementById("app");
if (target === null) throw new Error("no #app in index.html");
target.replaceChildren();
mount(App, { target });
if (import.meta.env.MODE !== "single") keepForOffline();

/** The page installs itself for when there is no network; in a frame it has no need to. */
function keepForOffline(): void {
  if (isSecureContext && "serviceWorker" in navigator && parent === window) {
    // Fetching everything must not hold up the first lesson.
    setTimeout(() => {
      void navigator.serviceWorker.register("./sw.js");
    }, 3000);
  }
}
