/** Milliseconds of work in a batch: long enough for a clock of 0.1 ms. */
const enough = 20;

/** Milliseconds for one of `turns` calls in a row, the fastest of three batches; `prepare` is not counted. */
export function time(call: () => unknown, turns = 1, prepare: () => void = () => undefined): number {
  const batch = () => {
    let spent = 0;
    let calls = 0;
    while (spent < enough) {
      prepare();
      const start = performance.now();
      for (let turn = 0; turn < turns; turn += 1) call();
      spent += performance.now() - start;
      calls += turns;
    }
    return spent / calls;
  };
  return Math.min(batch(), batch(), batch());
}
