/** How long is measured. A contender that is slow leaves when its budget is spent, but not before `fewest` rounds. */
export const thorough = { rounds: 9, fewest: 3, sampleMs: 20, warmMs: 300, budgetMs: 15_000 };
export const quick = { rounds: 3, fewest: 2, sampleMs: 5, warmMs: 50, budgetMs: 1_000 };

/** Milliseconds a call, over so many of them. */
async function sample({ run, reset }, calls) {
  reset?.();
  const start = performance.now();
  // To wait for what is there already would cost as much as a small call.
  for (let i = 0; i < calls; i++) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  return (performance.now() - start) / calls;
}

/** Until the engine has optimised it. Resolves to how many calls make a sample. */
async function warmUp(contender, { sampleMs, warmMs }) {
  const { most = Infinity } = contender;
  let calls = 1;
  for (let spent = 0; spent < warmMs;) {
    const time = await sample(contender, calls);
    spent += time * calls;
    calls = Math.max(1, Math.min(most, Math.ceil(sampleMs / Math.max(time, 1e-5)), calls * 8));
  }
  return calls;
}

/**
 * Samples all contenders in turn, round after round, each round beginning with another.
 * @param contenders [{ run, reset?, most? }]: a call, what makes it repeatable, and how many calls need no reset
 * @returns for each the milliseconds of a call, by round
 */
export async function interleave(contenders, effort) {
  const entries = [];
  for (const contender of contenders)
    entries.push({ contender, calls: await warmUp(contender, effort), spent: 0, times: [] });
  for (let round = 0; round < effort.rounds; round++) {
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[(i + round) % entries.length];
      if (round >= effort.fewest && entry.spent > effort.budgetMs) continue;
      const time = await sample(entry.contender, entry.calls);
      entry.times.push(time);
      entry.spent += time * entry.calls;
    }
  }
  return entries.map(({ times }) => times);
}
