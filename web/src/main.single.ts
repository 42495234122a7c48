import "./styles/index.css";
import { mount } from "svelte";
import App from "./App.svelte";

// In place of main.ts where the page is one file: nothing has to arrive first.
const target = document.getElementById("app");
if (target === null) throw new Error("no #app in index.html");
target.replaceChildren();
mount(App, { target });
