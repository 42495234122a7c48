import InlineWorker from "./worker.ts?worker&inline";

/** In place of start.ts where the page is one file. */
export const startWorker = () => new InlineWorker();
