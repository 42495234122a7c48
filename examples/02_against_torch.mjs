// scaledDotProductAttention against torch.nn.functional.scaled_dot_product_attention.

import { scaledDotProductAttention } from "softlookup";
import { compareAll, goldenCases, input } from "./golden.mjs";

const all = goldenCases("sdpa");
// One case holds what float64 makes of −1e9 as a mask; float32, of PyTorch too, makes something else of it.
const cases = all.filter(({ params }) => params.precision !== "float64");
for (const { name } of all.filter((golden) => !cases.includes(golden))) {
  console.log(`${name.padEnd(24)} not compared: float64`);
}

compareAll(cases, (golden) => {
  const [q, k, v] = ["q", "k", "v"].map((name) => input(golden, name));
  return scaledDotProductAttention(q, k, v, {
    mask: input(golden, "attn_mask"),
    causal: golden.params.is_causal ? "top-left" : false,
    scale: golden.params.scale ?? undefined,
    needWeights: true,
  });
});
