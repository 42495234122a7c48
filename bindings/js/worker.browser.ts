/** How many workers this machine can keep busy. */
export const parallelism = (): number => navigator.hardwareConcurrency;

/** Starts a worker of the pool, which talks through `port`. Returns what ends it. */
export function startWorker(port: MessagePort, failed: (reason: Error) => void): () => void {
  const worker = new Worker(new URL("./pool-worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("error", ({ message }) => {
    failed(new Error(message));
  });
  worker.postMessage(port, [port]);
  return () => {
    worker.terminate();
  };
}

/** In a worker: the port that startWorker was given. */
export function portOfParent(use: (port: MessagePort) => void): void {
  addEventListener(
    "message",
    ({ data }: MessageEvent<MessagePort>) => {
      use(data);
    },
    { once: true },
  );
}
