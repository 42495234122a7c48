import { jobs, type JobName } from "./jobs.ts";

async function run(name: JobName, input: never): Promise<void> {
  try {
    for await (const found of jobs[name](input)) postMessage({ found });
    postMessage({ done: true });
  } catch (error) {
    postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
}

addEventListener("message", ({ data }: MessageEvent<{ name: JobName; input: never }>) => {
  void run(data.name, data.input);
});

// Importing the jobs waits for the core, and a message that came before would have been lost.
postMessage({ ready: true });
