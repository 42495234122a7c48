// From a fresh clone to the page on the screen: installs, builds, serves.

import { buildAll } from "./build.mjs";
import { root, runAsScript } from "./run.mjs";
import { serve } from "./serve.mjs";

async function serveOnFirstFreePort(folder, port) {
  try {
    return await serve(folder, { port });
  } catch (error) {
    if (error.code !== "EADDRINUSE") throw error;
    return serveOnFirstFreePort(folder, port + 1);
  }
}

await runAsScript(import.meta.url, async () => {
  await buildAll();
  const { url } = await serveOnFirstFreePort(`${root}site`, Number(process.env.PORT ?? 8080));
  console.log(`softlookup: ${url}`);
});
