import type { Text } from "./text.ts";

export interface Term {
  name: Text;
  /** What else people call it, or search for. */
  also?: string;
  meaning: Text;
}

/** The words of the field, in the order in which a reader meets them. */
export const glossary = {
  attention: {
    name: { zh: "注意力", en: "attention" },
    also: "attention mechanism 注意力机制 soft lookup 软查找",
    meaning: {
      zh: "可微的字典查找：查询同每个键比对，比对结果变成权重，再用权重调和所有的值。",
      en: "A differentiable dictionary lookup: a query is compared with every key, the comparison becomes weights, and the weights blend all the values.",
    },
  },
  "self-attention": {
    name: { zh: "自注意力", en: "self-attention" },
    meaning: {
      zh: "查询、键、值都来自同一个序列的注意力：每个 token 都看同一句里的 token。",
      en: "Attention whose queries, keys and values all come from one sequence: each token looks at the tokens of its own sentence.",
    },
  },
  "cross-attention": {
    name: { zh: "交叉注意力", en: "cross-attention" },
    meaning: {
      zh: "查询来自一个序列，键和值来自另一个，例如译文看原文。",
      en: "Attention with queries from one sequence and keys and values from another, as a translation looks at its source.",
    },
  },
  token: {
    name: { zh: "token", en: "token" },
    also: "词元 x X subword",
    meaning: {
      zh: "文本被切成的最小单元：一个字、一个词或词的一部分；在模型里是一个向量。",
      en: "The unit that text is cut into: a character, a word or part of one; inside the model, a vector.",
    },
  },
  query: {
    name: { zh: "查询", en: "query" },
    also: "q Q",
    meaning: {
      zh: "一个 token 在找什么，写成一个向量；$\\Q$ 的每一行是一个查询。",
      en: "What a token is looking for, as a vector; each row of $\\Q$ is one query.",
    },
  },
  key: {
    name: { zh: "键", en: "key" },
    also: "k K",
    meaning: {
      zh: "凭什么找到一个 token；查询同它做点积。$\\K$ 的每一行是一个键。",
      en: "What a token can be found by; queries are multiplied with it. Each row of $\\K$ is one key.",
    },
  },
  value: {
    name: { zh: "值", en: "value" },
    also: "v V",
    meaning: {
      zh: "一个 token 被看时交出的内容；输出由值调和而成。$\\V$ 的每一行是一个值。",
      en: "What a token hands over when it is looked at; outputs are blends of values. Each row of $\\V$ is one value.",
    },
  },
  projection: {
    name: { zh: "投影", en: "projection" },
    also: "linear 线性层 W q_proj k_proj v_proj weight matrix",
    meaning: {
      zh: "学得的矩阵，把每个 token 的向量变成它的查询、键或值。",
      en: "A learned matrix that turns each token’s vector into its query, key or value.",
    },
  },
  "dot-product": {
    name: { zh: "点积", en: "dot product" },
    also: "内积 inner product similarity 相似度",
    meaning: {
      zh: "对应分量相乘再相加：两个向量又长又同向，它就大；互相垂直，它是零。",
      en: "Products of matching entries, added up: large for long vectors that point the same way, zero at right angles.",
    },
  },
  scores: {
    name: { zh: "分数", en: "scores" },
    also: "logits 对数几率 s QK similarity",
    meaning: {
      zh: "查询与键的点积，softmax 之前的数；缩放并加掩码之后也叫 logits。第 $i$ 行是查询 $i$ 对所有键的看法。",
      en: "Dot products of queries and keys, before the softmax; scaled and masked they are also called logits. Row $i$ is query $i$’s opinion of all keys.",
    },
  },
  "head-dim": {
    name: { zh: "头维", en: "head dim" },
    also: "d_k E head_dim head dimension 维度",
    meaning: {
      zh: "一个头里查询和键的分量个数；代码里常写作 `head_dim`。",
      en: "How many entries a query or a key has within one head; `head_dim` in code.",
    },
  },
  scaling: {
    name: { zh: "缩放", en: "scaling" },
    also: "scale 根号 sqrt scaled dot-product",
    meaning: {
      zh: "分数除以 $\\sqrt{d_k}$，使它们的方差不随头维增大，softmax 不致饱和。",
      en: "Dividing scores by $\\sqrt{d_k}$, so that their variance does not grow with the head dim and the softmax does not saturate.",
    },
  },
  softmax: {
    name: { zh: "softmax", en: "softmax" },
    also: "归一化 normalise normalize 指数",
    meaning: {
      zh: "把一行分数变成相加为 1 的正数：各取指数，再除以它们的和。分数之差变成份额之比。",
      en: "Turns a row of scores into positive numbers that add up to 1: exponentials, divided by their sum. Differences of scores become ratios of shares.",
    },
  },
  temperature: {
    name: { zh: "温度", en: "temperature" },
    also: "T",
    meaning: {
      zh: "softmax 之前除以它：越低，份量越集中于最高分；越高，越接近均分。",
      en: "Scores are divided by it before the softmax: the lower it is, the more goes to the highest score; the higher, the more even the shares.",
    },
  },
  "row-max": {
    name: { zh: "行最大值", en: "row maximum" },
    also: "max m overflow 溢出",
    meaning: {
      zh: "取指数之前从整行减去的数；结果不变，指数不再溢出。",
      en: "Subtracted from the whole row before exponentials are taken; the result is the same and nothing overflows.",
    },
  },
  "row-sum": {
    name: { zh: "行和", en: "row sum" },
    also: "denominator 分母 sum Σ",
    meaning: {
      zh: "一行各数之和。softmax 用它作分母；权重的行和应当是 1。",
      en: "The sum of a row. For softmax it is the denominator; a row of weights should sum to 1.",
    },
  },
  deviation: {
    name: { zh: "标准差", en: "standard deviation" },
    also: "σ sigma variance 方差",
    meaning: {
      zh: "方差的平方根：一组数平均散开多远。",
      en: "The square root of the variance: how far numbers spread around their mean.",
    },
  },
  "hidden-state": {
    name: { zh: "隐状态", en: "hidden state" },
    also: "h RNN 循环神经网络 recurrent encoder decoder seq2seq",
    meaning: {
      zh: "循环网络读到某处时记住的一切，一个向量；加性注意力里，编码器的每个隐状态既是键又是值。",
      en: "All that a recurrent net remembers at some point, as one vector; in additive attention each of the encoder’s is a key and a value.",
    },
  },
  "decoder-state": {
    name: { zh: "解码器状态", en: "decoder state" },
    also: "z s decoder seq2seq",
    meaning: {
      zh: "解码器写第 $t$ 个词之前的隐状态；加性注意力拿它当查询。",
      en: "The decoder’s hidden state before it writes word $t$; in additive attention it is the query.",
    },
  },
  context: {
    name: { zh: "上下文向量", en: "context vector" },
    also: "c",
    meaning: {
      zh: "解码器写第 $t$ 个词时从原文得到的向量。",
      en: "What the decoder is given of the source when it writes word $t$, as one vector.",
    },
  },
  bias: {
    name: { zh: "偏置", en: "bias" },
    also: "b",
    meaning: {
      zh: "学得的加数：与输入无关，加在投影之后。",
      en: "A learned summand: added after a projection, whatever the input.",
    },
  },
  saturation: {
    name: { zh: "饱和", en: "saturation" },
    also: "saturated 梯度消失 vanishing gradient one-hot",
    meaning: {
      zh: "softmax 几乎只给一个键份量：再改分数，权重也几乎不动，梯度接近零。",
      en: "A softmax that gives nearly everything to one key: its weights hardly respond to the scores any more, and the gradient is near zero.",
    },
  },
  weights: {
    name: { zh: "权重", en: "weights" },
    also: "attention weights 注意力权重 w W A probability 概率",
    meaning: {
      zh: "softmax 的结果：第 $i$ 行说的是查询 $i$ 怎样把 1 分给各个键。不要与学得的参数混淆，那也常叫权重。",
      en: "What softmax gives: row $i$ says how query $i$ shares out 1 among the keys. Not the learned parameters, which are often called weights too.",
    },
  },
  output: {
    name: { zh: "输出", en: "output" },
    also: "o context 上下文",
    meaning: {
      zh: "值按权重的加权平均，每个查询得到一个。",
      en: "The weighted mean of the values, one for each query.",
    },
  },
  mask: {
    name: { zh: "掩码", en: "mask" },
    also: "M masking boolean additive 布尔 加性",
    meaning: {
      zh: "规定哪个查询可以看哪个键。加性掩码 $M$：0 表示可看，$-\\infty$ 表示不可看。布尔掩码 $[M=0]$：1 表示可看，0 表示不可看。",
      en: "Says which query may look at which key. Additive, $M$: 0 means may look, $-\\infty$ may not. Boolean, $[M=0]$: 1 means may look, 0 may not.",
    },
  },
  padding: {
    name: { zh: "补位", en: "padding" },
    also: "pad padding mask 填充",
    meaning: {
      zh: "为了让一个批次里的序列一样长而补上的 token，不含信息，要遮住。",
      en: "Tokens added so that the sequences of a batch have one length; they carry nothing and are hidden.",
    },
  },
  causal: {
    name: { zh: "因果掩码", en: "causal mask" },
    also: "autoregressive 自回归 triangle 三角 future 未来",
    meaning: {
      zh: "只许看自己和之前的 token：查询 $i$ 看键 $j\\le i$，允许的格子是下三角。",
      en: "Allows a token itself and those before: query $i$ sees keys $j\\le i$, a lower triangle.",
    },
  },
  leak: {
    name: { zh: "泄漏", en: "leak" },
    also: "cheating 作弊 causality 因果性",
    meaning: {
      zh: "输出受到了它不该看见的 token 的影响，哪怕只有一位。",
      en: "An output that is affected by a token which it must not see, be it by a single bit.",
    },
  },
  cut: {
    name: { zh: "刀口", en: "cut" },
    also: "t position 位置",
    meaning: {
      zh: "泄漏检查里的一个位置：它之后的 token 都被换掉，它之前以及它自己的输出必须不动。",
      en: "A position in the leak check: tokens after it are replaced, and outputs up to it must not move.",
    },
  },
  replaced: {
    name: { zh: "换掉未来的序列", en: "sequence with its future replaced" },
    also: "r R replacement",
    meaning: {
      zh: "刀口之后换上的 token 是 $r$；$R$ 在刀口之前与 $X$ 相同，之后是它们。",
      en: "The tokens put in after the cut are $r$; $R$ is the same as $X$ up to the cut and has these after it.",
    },
  },
  influence: {
    name: { zh: "影响矩阵", en: "influence matrix" },
    also: "influence",
    meaning: {
      zh: "第 $j$ 行第 $i$ 列：单独换掉 token $j$，输出 $i$ 最多动了多少。",
      en: "Row $j$, column $i$: how far output $i$ moved at most when token $j$ alone was replaced.",
    },
  },
  "nan-poisoning": {
    name: { zh: "NaN 污染", en: "NaN poisoning" },
    also: "nan 0 × NaN",
    meaning: {
      zh: "被遮住的数用零去乘，遇上 NaN 仍得 NaN。数值没有看到未来，却被弄坏了。",
      en: "Hidden numbers multiplied by zero: with NaN the product is NaN all the same. The future was not seen, yet it spoilt the result.",
    },
  },
  head: {
    name: { zh: "头", en: "head" },
    also: "multi-head attention MHA 多头注意力 H",
    meaning: {
      zh: "模型维切成 $H$ 段，每段各做一次注意力。多头的参数与单头一样多，却能同时看几种关系。",
      en: "The model dim is split into $H$ parts, and each does its own attention. Heads cost no parameters and can follow several relations at once.",
    },
  },
  "model-dim": {
    name: { zh: "模型维", en: "model dim" },
    also: "d_model hidden size 隐藏维",
    meaning: {
      zh: "一个 token 的向量在各层之间的宽度。",
      en: "The width of a token’s vector between layers.",
    },
  },
  "output-projection": {
    name: { zh: "输出投影", en: "output projection" },
    also: "o_proj WO",
    meaning: {
      zh: "把拼起来的各头混合，送回模型维；没有它，各头互不相通。",
      en: "Mixes the concatenated heads and leads back to the model dim; without it the heads never meet.",
    },
  },
  gqa: {
    name: { zh: "分组查询注意力", en: "grouped-query attention" },
    also: "GQA MQA multi-query repeat_kv num_key_value_heads",
    meaning: {
      zh: "$H_q$ 个查询头共用 $H_{kv}$ 个键值头，缓存随之变小；查询头 $h$ 用键值头 $\\lfloor h/(H_q/H_{kv})\\rfloor$。",
      en: "$H_q$ query heads share $H_{kv}$ key/value heads, which shrinks the cache; query head $h$ uses key/value head $\\lfloor h/(H_q/H_{kv})\\rfloor$.",
    },
  },
  rope: {
    name: { zh: "旋转位置编码", en: "rotary position embedding" },
    also: "RoPE theta position 位置",
    meaning: {
      zh: "按位置旋转查询和键的成对分量，点积从此只依赖两个 token 相隔多远；值不转。",
      en: "Turns pairs of entries of queries and keys by an angle that grows with position, so that dot products depend on distance alone; values are not turned.",
    },
  },
  position: {
    name: { zh: "位置", en: "position" },
    also: "p",
    meaning: {
      zh: "token 在序列里排第几，从 0 数起。",
      en: "A token’s place in the sequence, counted from 0.",
    },
  },
  frequency: {
    name: { zh: "转速", en: "frequency" },
    also: "ω omega θ theta base 底数",
    meaning: {
      zh: "每往后一个位置，第 $i$ 对分量多转的角 $\\omega_i$，由底数 $\\theta$ 决定；越往后的对转得越慢。",
      en: "The angle $\\omega_i$ by which pair $i$ turns further at each position, set by the base $\\theta$; later pairs turn more slowly.",
    },
  },
  "rms-norm": {
    name: { zh: "RMS 归一化", en: "RMS norm" },
    also: "RMSNorm q_norm k_norm qk-norm",
    meaning: {
      zh: "除以各分量平方的平均数的平方根，再逐分量乘以学得的系数 $g$；很小的 $\\varepsilon$ 保证不会除以 0。用在每个头的查询和键上时叫 q/k 归一化。",
      en: "Divides by the root of the mean square and multiplies by learned factors $g$; a tiny $\\varepsilon$ keeps the divisor from being 0. On the queries and keys of each head it is called q/k norm.",
    },
  },
  "kv-cache": {
    name: { zh: "KV 缓存", en: "KV cache" },
    also: "cache 缓存 decode prefill 解码 预填充",
    meaning: {
      zh: "生成时留住过去 token 的键和值，每步只算新 token 的一行。",
      en: "Keeps the keys and values of past tokens while generating, so that each step computes one new row only.",
    },
  },
  batch: {
    name: { zh: "批次", en: "batch" },
    also: "B",
    meaning: {
      zh: "一起计算、互不相看的若干序列。",
      en: "Sequences that are computed together and do not look at each other.",
    },
  },
  length: {
    name: { zh: "序列长度", en: "sequence length" },
    also: "L S n context 上下文长度",
    meaning: {
      zh: "token 的个数；查询有 $L$ 个，键有 $S$ 个，自注意力里两者相同。",
      en: "The number of tokens; $L$ of queries and $S$ of keys, the same in self-attention.",
    },
  },
  layer: {
    name: { zh: "层", en: "layer" },
    also: "N depth 深度",
    meaning: {
      zh: "一次注意力加一个前馈网络；模型把 $N$ 层叠在一起。",
      en: "One attention and one feed-forward net; a model is a stack of $N$ of them.",
    },
  },
  bytes: {
    name: { zh: "每个数的字节", en: "bytes a number" },
    also: "b fp16 bf16 float16 precision 精度",
    meaning: {
      zh: "一个数占的存储：float32 占 4 字节，fp16 和 bf16 占 2 字节。",
      en: "What a number takes to store: 4 bytes in float32, 2 in fp16 and bf16.",
    },
  },
  window: {
    name: { zh: "滑动窗口", en: "sliding window" },
    also: "window local attention 局部注意力",
    meaning: {
      zh: "只看最近的 $W$ 个键（包括自己），代价不再随长度的平方增长。",
      en: "Only the last $W$ keys, one’s own included, are seen; the cost no longer grows with the square of the length.",
    },
  },
  "linear-attention": {
    name: { zh: "线性注意力", en: "linear attention" },
    also: "kernel feature map",
    meaning: {
      zh: "用特征映射 $\\phi$ 的乘积代替 softmax，先汇总键和值，代价随长度线性增长；权重不再单独出现。",
      en: "Replaces the softmax by a product of feature maps $\\phi$ and sums up keys and values first; the cost grows linearly, and weights never appear.",
    },
  },
  flash: {
    name: { zh: "FlashAttention", en: "FlashAttention" },
    also: "tiled online softmax 分块",
    meaning: {
      zh: "分块计算同样的注意力，边走边更新行最大值与行和，从不存下整个 $n\\times n$ 的矩阵。",
      en: "Computes the same attention tile by tile, updating row maximum and row sum on the way, and never stores the whole $n\\times n$ matrix.",
    },
  },
  "additive-attention": {
    name: { zh: "加性注意力", en: "additive attention" },
    also: "Bahdanau tanh seq2seq",
    meaning: {
      zh: "早期的注意力：分数不是点积，而是查询与键各经投影（$W$ 和 $U$）、相加、过 $\\tanh$ 之后以 $v_a$ 加权的和。",
      en: "An early form of attention: a score is not a dot product but a sum, weighted by $v_a$, of the $\\tanh$ of projected query plus projected key ($W$ and $U$).",
    },
  },
  float32: {
    name: { zh: "float32", en: "float32" },
    also: "单精度 precision exact 准确值",
    meaning: {
      zh: "本页每个数的存储格式，约七位十进制；指向一格就看到存下的准确数字。",
      en: "The format in which every number here is stored, about seven decimal digits; a cell shows its exact digits when pointed at.",
    },
  },
} as const satisfies Record<string, Term>;

export type TermId = keyof typeof glossary;
