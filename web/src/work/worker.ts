import { jobs, type JobName } from "./jobs.ts";

addEventListener("message", ({ data }: MessageEvent<{ name: JobName; input: never }>) => {
  try {
    for (const found of jobs[data.name](data.input)) postMessage({ found });
    postMessage({ done: true });
  } catch (error) {
    postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
});

// Importing the jobs waits for the core, and a message that came before would have been lost.
postMessage({ ready: true });
