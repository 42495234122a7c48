// MultiheadAttention by PyTorch's names against torch.nn.MultiheadAttention, with the same parameters.

import { MultiheadAttention } from "softlookup/torch";
import { compareAll, goldenCases, input } from "./golden.mjs";

const isParameter = (name) => /^(in_proj|[qkv]_proj|out_proj|bias_[kv])/.test(name);

compareAll(goldenCases("mha"), (golden) => {
  const { params, inputs } = golden;
  const attention = new MultiheadAttention(params.embed_dim, params.num_heads, {
    bias: params.bias,
    addBiasKv: params.add_bias_kv,
    addZeroAttn: params.add_zero_attn,
    kdim: params.kdim ?? undefined,
    vdim: params.vdim ?? undefined,
    batchFirst: params.batch_first,
  });
  const names = Object.keys(inputs).filter(isParameter);
  attention.loadStateDict(Object.fromEntries(names.map((name) => [name, input(golden, name)])));

  const query = input(golden, "query");
  const key = input(golden, "key") ?? query;
  const value = input(golden, "value") ?? key;
  const [output, weights] = attention.forward(query, key, value, {
    keyPaddingMask: input(golden, "key_padding_mask"),
    attnMask: input(golden, "attn_mask"),
    averageAttnWeights: params.average_attn_weights,
  });
  attention.dispose();
  return { output, weights };
});
