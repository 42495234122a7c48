async function inTurn(items, work) {
  for (const item of items) await work(item);
}

/** Runs every named check, also after one has failed, and counts. */
export async function checks(all, each = inTurn) {
  const counts = { passed: 0, failed: 0 };
  await each(Object.entries(all), async ([name, check]) => {
    try {
      await check();
      counts.passed += 1;
      console.log(`ok      ${name}`);
    } catch (error) {
      counts.failed += 1;
      console.log(`FAILED  ${name}: ${error.message}`);
    }
  });
  return counts;
}
