import { availableParallelism } from "node:os";
import { parentPort, Worker } from "node:worker_threads";

export const parallelism = availableParallelism;

export function startWorker(port: MessagePort, failed: (reason: Error) => void): () => void {
  // Node's own arguments are about the program: with --input-type, for one, no worker starts.
  const worker = new Worker(new URL("./pool-worker.js", import.meta.url), { execArgv: [] });
  worker.on("error", failed);
  worker.postMessage(port, [port as never]); // the same class, which the types do not know
  return () => {
    void worker.terminate();
  };
}

export function portOfParent(use: (port: MessagePort) => void): void {
  parentPort?.once("message", use);
}
