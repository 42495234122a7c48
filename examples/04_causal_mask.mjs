// The causal mask, what it makes of the weights, and a check that no output sees a later token.

import { checkCausality, faultyAttention, masks, randomNormal, scaledDotProductAttention } from "softlookup";
import { matrixText } from "./print.mjs";

const n = 5;
const mask = masks.causal(n);
console.log(`mask: 1 = row i may attend to column j\n${matrixText(mask, 0)}\n`);
console.log(`added to the scores\n${matrixText(masks.toAdditive(mask), 0)}\n`);

const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([n, 8], seed));
const { weights } = scaledDotProductAttention(q, k, v, { causal: true, needWeights: true });
console.log(`weights\n${matrixText(weights)}\n`);

// Replace the tokens after each position by others, and see whether an output up to it moves.
async function check(title, attention) {
  const report = await checkCausality(attention, { q, k, v });
  const leak = report.causal ? "" : `, first when the tokens after ${report.firstCut} were replaced`;
  console.log(`${title}: ${report.verdict}${leak} (${report.calls} calls)`);
}

await check("causal attention", (x) => scaledDotProductAttention(x.q, x.k, x.v, { causal: true }));
await check("without a mask", (x) => scaledDotProductAttention(x.q, x.k, x.v));
await check("mask after softmax", (x) => faultyAttention("mask-after-softmax", x.q, x.k, x.v));
