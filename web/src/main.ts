import "./styles/theme.css";
import "./styles/base.css";
import "./styles/matrix.css";
import "./styles/figure.css";
import { mount } from "svelte";
import LoadFailure from "./view/LoadFailure.svelte";

const target = document.getElementById("app");
if (target === null) throw new Error("no #app in index.html");

// Importing the app waits for the WebAssembly core; a failure arrives here, once.
try {
  const { default: App } = await import("./App.svelte");
  target.replaceChildren();
  mount(App, { target });
} catch (error) {
  target.replaceChildren();
  mount(LoadFailure, { target, props: { reason: error instanceof Error ? error.message : String(error) } });
}
