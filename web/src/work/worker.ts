import { jobs, type JobName } from "./jobs.ts";

// Importing the jobs waits for the core; a message that comes earlier is kept until then.

addEventListener("message", ({ data }: MessageEvent<{ name: JobName; input: never }>) => {
  try {
    for (const found of jobs[data.name](data.input)) postMessage({ found });
    postMessage({ done: true });
  } catch (error) {
    postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
});
