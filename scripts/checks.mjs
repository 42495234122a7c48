/** Runs every named check, also after one has failed, and counts. */
export async function checks(all) {
  const counts = { passed: 0, failed: 0 };
  for (const [name, check] of Object.entries(all)) {
    try {
      await check();
      counts.passed += 1;
      console.log(`ok      ${name}`);
    } catch (error) {
      counts.failed += 1;
      console.log(`FAILED  ${name}: ${error.message}`);
    }
  }
  return counts;
}
