import { startWorker } from "./start.ts";
import type { Found, Input, JobName } from "./jobs.ts";

type Message<Finding> = { ready: true } | { found: Finding } | { done: true } | { failed: string };

/** A job in a worker of its own, and what it has found so far. */
export class Run<Name extends JobName> {
  found = $state.raw<readonly Found<Name>[]>([]);
  state = $state.raw<"running" | "done" | "cancelled" | "failed">("running");
  reason = $state.raw("");
  #worker: Worker;

  constructor(name: Name, input: Input<Name>) {
    this.#worker = startWorker();
    this.#worker.onmessage = ({ data }: MessageEvent<Message<Found<Name>>>) => {
      if ("ready" in data) this.#worker.postMessage({ name, input });
      else if ("found" in data) this.found = [...this.found, data.found];
      else this.#end("failed" in data ? "failed" : "done", "failed" in data ? data.failed : "");
    };
    this.#worker.onerror = ({ message }) => {
      this.#end("failed", message);
    };
  }

  cancel(): void {
    if (this.state === "running") this.#end("cancelled");
  }

  #end(state: "done" | "cancelled" | "failed", reason = ""): void {
    this.state = state;
    this.reason = reason;
    this.#worker.terminate();
  }
}
