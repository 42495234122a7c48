import type { Lesson } from "./lesson.ts";
import { minimindQuestions } from "./questions/minimind.ts";
import { same, type Text } from "./text.ts";

const masked = (...lit: readonly ("scores" | "scaled" | "mask" | "softmax" | "output")[]) =>
  ({ id: "masked", lit }) as const;

export const minimind = {
  id: "minimind",
  title: { zh: "MiniMind 的 forward", en: "MiniMind’s forward" },
  question: {
    zh: "真实模型里的一层注意力，一行一行到底做了什么？",
    en: "Line by line, what does attention in a real model do?",
  },
  lede: {
    zh: "MiniMind 是一个小而完整的语言模型。它的注意力与前面讲的是同一件事，多了四样实际用得上的东西：查询头比键值头多，$\\q$ 和 $\\k$ 先做归一化，位置以旋转的方式写进 $\\q$ 和 $\\k$，过去的键和值留在缓存里。整个 `forward` 分八步，这里每一行都带着它的张量走一遍。",
    en: "MiniMind is a small but complete language model. Its attention is what you have seen so far and four practical things more: it has more query heads than key/value heads, $\\q$ and $\\k$ are normalised, positions are written into $\\q$ and $\\k$ as rotations, and the keys and values of the past are kept in a cache. Its `forward` has eight steps; here each of their lines is run with its tensor beside it.",
  },
  sources: [
    { text: { zh: "MiniMind 课程第 11 课", en: "The MiniMind course, lesson 11" } },
    {
      text: { zh: "Su 等 2021（RoPE），§3.4", en: "Su et al. 2021 (RoPE), §3.4" },
      url: "https://arxiv.org/abs/2104.09864",
    },
    {
      text: { zh: "Ainslie 等 2023（GQA）", en: "Ainslie et al. 2023 (GQA)" },
      url: "https://arxiv.org/abs/2305.13245",
    },
  ],
  parts: {
    one: { zh: "第 1 段", en: "Part 1" },
    two: { zh: "第 2 段", en: "Part 2" },
    three: { zh: "第 3 段", en: "Part 3" },
    four: { zh: "第 4 段", en: "Part 4" },
    five: { zh: "第 5 段", en: "Part 5" },
    six: { zh: "第 6 段", en: "Part 6" },
    seven: { zh: "第 7 段", en: "Part 7" },
    eight: { zh: "第 8 段", en: "Part 8" },
    whole: { zh: "合起来看", en: "Taken together" },
  },
  steps: [
    {
      id: "x",
      part: "one",
      title: { zh: "进来的是什么", en: "What comes in" },
      body: [
        {
          zh: "`x` 是经过本层归一化的隐藏状态：一个批次，每条序列 $n$ 个 token，每个 token 一个宽 `hidden_size` 的向量。这一步只读出 $B$ 和 $n$，后面变形时要用。矩阵里只画批次的第一条序列；形状说的是整个批次。",
          en: "`x` holds the hidden states after the layer’s norm: a batch of sequences, $n$ tokens in each, and for each token a vector `hidden_size` wide. This step only reads off $B$ and $n$, which the reshaping needs. Matrices show the first sequence of the batch; shapes speak of all of it.",
        },
      ],
      task: {
        zh: "所有大小都由你定。宽度不超过 24 时，还可以直接改写 `x` 的数。",
        en: "All sizes are yours to choose. Up to a width of 24 you can also type over the numbers of `x`.",
      },
      formulae: [],
      strip: "minimind",
      at: "given",
    },
    {
      id: "project",
      part: "two",
      title: { zh: "同一个 x，三种投影", en: "One x, three projections" },
      body: [
        {
          zh: "`q_proj`、`k_proj`、`v_proj` 是三个没有偏置的线性层，输入都是同一个 `x`。查询有 $H_q$ 个头（列标 $H$），键和值只有 $H_{kv}$ 个（列标 $G$），所以后两个结果更窄：参数更少，要缓存的也更少。",
          en: "`q_proj`, `k_proj` and `v_proj` are three linear layers without bias, all fed the same `x`. Queries have $H_q$ heads (columns $H$), keys and values only $H_{kv}$ (columns $G$), so the last two results are narrower: fewer parameters, and less to be cached.",
        },
      ],
      task: {
        zh: "把键值头数调到 1，再调到与查询头数相同，看 `k_proj(x)` 的宽度。",
        en: "Set the key/value heads to 1, then to as many as there are query heads, and watch how wide `k_proj(x)` is.",
      },
      formulae: [],
      strip: "minimind",
      at: "projections",
    },
    {
      id: "view",
      part: "three",
      title: { zh: "最后一轴拆成两轴", en: "The last axis becomes two" },
      body: [
        {
          zh: "`view` 把宽的一轴读成“头 × 头维”，一个数也不动：头 $h$ 拿走属于它的那几列。此时的次序是 $(B,n,H,d_k)$：token 在前，头在后，因为拆开的只是最后一轴。",
          en: "`view` reads the wide axis as heads times head dim without moving a number: head $h$ takes the columns that are its own. The order is $(B,n,H,d_k)$ for now, tokens before heads, since only the last axis was taken apart.",
        },
      ],
      formulae: [],
      strip: "minimind",
      at: "cut",
    },
    {
      id: "norm",
      part: "four",
      title: { zh: "先归一化 q 和 k", en: "First q and k are normalised" },
      body: [
        {
          zh: "`q_norm` 和 `k_norm` 是 RMSNorm：每个头里，每个 token 的向量除以自己的均方根，再逐分量乘以学得的系数 $g$。分数的大小从此不再取决于隐藏状态有多大，训练更稳。它作用在头维上，不是整条投影上；$\\v$ 不做归一化。",
          en: "`q_norm` and `k_norm` are RMSNorms: within a head, the vector of each token is divided by its own root mean square, and multiplied, component by component, by learned factors $g$. How large scores get then no longer depends on how large hidden states are, which steadies training. It runs over the head dim, not over the whole projection, and $\\v$ is left alone.",
        },
      ],
      task: {
        zh: "回到第 1 段，把一个 token 的所有数放大十倍：这里的那一行几乎不变。",
        en: "Go back to part 1 and make all numbers of a token ten times as large: its row here hardly changes.",
      },
      formulae: [{ id: "rmsNorm", lit: [] }],
      strip: "minimind",
      at: "turn",
    },
    {
      id: "rope",
      part: "four",
      title: { zh: "再按位置旋转", en: "Then turned by position" },
      body: [
        {
          zh: "RoPE 把一个头的分量两两配对，看成平面上的点，位置 $p$ 的 token 让第 $i$ 对转过 $p\\,\\omega_i$。位置 0 原样不动。旋转不改变长度，只改变方向。",
          en: "RoPE pairs the components of a head, takes each pair for a point in a plane, and for the token at position $p$ turns pair $i$ by $p\\,\\omega_i$. Position 0 stays as it is. Turning changes directions, never lengths.",
        },
        {
          zh: "转的是 $\\q$ 和 $\\k$，因为位置该影响“看谁”；$\\v$ 不转，因为拿回来的内容不该随位置变样。",
          en: "$\\q$ and $\\k$ are turned, because position is to bear on who is looked at; $\\v$ is not, because what is brought back should not change with where it stood.",
        },
      ],
      task: {
        zh: "指向一格，看它和哪一格一起转。",
        en: "Point at a cell to see which other it turns with.",
      },
      formulae: [{ id: "rope", lit: [] }],
      strip: "minimind",
      at: "turn",
    },
    {
      id: "pairings",
      part: "four",
      title: { zh: "谁和谁配对", en: "Which components make a pair" },
      body: [
        {
          zh: "有两种配法。*对半*：$i$ 与 $i+d_k/2$，MiniMind、Qwen 和 Hugging Face 版的 Llama 用它。*交错*：$2i$ 与 $2i+1$，原论文用它。两种都是旋转，角度也一样，数字却排得不同；权重是按哪一种训练的，就得用哪一种。",
          en: "There are two ways. *Half-split*: $i$ with $i+d_k/2$, as in MiniMind, Qwen, and Hugging Face’s Llama. *Interleaved*: $2i$ with $2i+1$, as in the paper. Both are rotations by the same angles, but the numbers land elsewhere; weights want the pairing that they were trained with.",
        },
        {
          zh: "每个圆是一对：虚线箭头是转之前，实线是转之后。第一对转得最快，往后越来越慢。",
          en: "Each circle is a pair: the dashed arrow before the turn, the solid one after it. The first pair turns fastest, later ones slower and slower.",
        },
      ],
      task: {
        zh: "改变位置，看哪些对转得动。MiniMind 的 $\\theta=10^6$ 让后面的对几乎不转；把 $\\theta$ 调小再看。",
        en: "Move the position and see which pairs follow. With MiniMind’s $\\theta=10^6$ the later ones hardly turn; choose a smaller $\\theta$ and look again.",
      },
      formulae: [{ id: "rope", lit: [] }],
      strip: "minimind",
      at: "turn",
    },
    {
      id: "distance",
      part: "four",
      title: { zh: "分数只看距离", en: "Scores know distance only" },
      body: [
        {
          zh: "把同一个 $\\q$ 放到每个位置，把同一个 $\\k$ 也放到每个位置。转过之后，分数只取决于 $i-j$：每条对角线上都是同一个数。把所有位置一起往后挪，表格不变，差别只剩 float32 的舍入。",
          en: "Put one $\\q$ at every position, and one $\\k$ at every position. Once turned, a score depends on $i-j$ alone: along each diagonal the number is the same. Move all positions on together and the table stays; the difference is float32 rounding.",
        },
      ],
      task: {
        zh: "把起点挪到 1000。差会变大一点吗？",
        en: "Move the start to 1000. Does the difference grow a little?",
      },
      formulae: [{ id: "relative", lit: [] }],
      strip: "minimind",
      at: "turn",
    },
    {
      id: "cache",
      part: "five",
      title: { zh: "过去的键和值排在前面", en: "The past goes first" },
      body: [
        {
          zh: "生成时，过去 token 的键和值已经算过、转过，就留在缓存里；新的接在后面。横线以上来自缓存，以下是这一次算的。$\\q$ 不缓存：旧的查询早已得到答案，再没有人用它。",
          en: "When a model generates, the keys and values of past tokens have been computed and turned already; they stay in the cache, and new ones are appended. Above the line they come from the cache, below it from this call. $\\q$ is not cached: an old query has had its answer, and nobody asks for it again.",
        },
        {
          zh: "分两次算出的输出，和一次算完的相减：这就是缓存敢于省掉重算的理由。",
          en: "The outputs of two calls, minus those of one: this is why a cache may save the work.",
        },
      ],
      formulae: [],
      strip: "minimind",
      at: "past",
    },
    {
      id: "repeat",
      part: "six",
      title: { zh: "换轴，再让键值头够数", en: "Swap axes, and give each query head its keys" },
      body: [
        {
          zh: "`transpose(1, 2)` 把头换到 token 前面，这样每个头的 $\\q$ 和 $\\k$ 就是两个可以相乘的矩阵。`repeat_kv` 把每个键值头连着重复 $H_q/H_{kv}$ 次：查询头 $h$ 读键值头 $\\lfloor h/(H_q/H_{kv})\\rfloor$，相邻的查询头共用一个。",
          en: "`transpose(1, 2)` puts heads before tokens, so that $\\q$ and $\\k$ of a head are two matrices to be multiplied. `repeat_kv` repeats each key/value head $H_q/H_{kv}$ times in a row: query head $h$ reads key/value head $\\lfloor h/(H_q/H_{kv})\\rfloor$, and neighbours share one.",
        },
        {
          zh: "把整列头重复几遍（平铺）也凑得够数，形状一模一样，可是中间的查询头读错了对象。",
          en: "Repeating the whole list of heads (tiling) makes up the number too, with exactly the same shape; but query heads in the middle then read from the wrong one.",
        },
      ],
      task: {
        zh: "找出平铺也碰巧正确的头，以及让所有头都正确的键值头数。",
        en: "Find the heads for which tiling is right by luck, and numbers of key/value heads for which it is right for all.",
      },
      formulae: [],
      strip: "minimind",
      at: "repeat",
    },
    {
      id: "scores",
      part: "seven",
      title: { zh: "打分，缩放", en: "Scores, scaled" },
      body: [
        {
          zh: "从这里起是熟悉的公式，每个头各做一遍。分数除以 $\\sqrt{d_k}$，$d_k$ 是头维，不是 `hidden_size`。",
          en: "From here on it is the formula that you know, once per head. Scores are divided by $\\sqrt{d_k}$, where $d_k$ is the head dim and not `hidden_size`.",
        },
      ],
      formulae: [masked("scores", "scaled")],
      strip: "minimind",
      at: "weigh",
    },
    {
      id: "mask",
      part: "seven",
      title: { zh: "遮住未来和补位", en: "Hide the future and the padding" },
      body: [
        {
          zh: "因果掩码加在最新的 $n$ 列上，`attention_mask` 再标出补位。MiniMind 的源码对补位加的是 $-10^9$；这里两者都用 $-\\infty$，任何真实分数都翻不过它。",
          en: "The causal mask is added to the newest $n$ columns, and `attention_mask` marks padding. MiniMind’s source adds $-10^9$ for padding; here both are $-\\infty$, which no real score can climb over.",
        },
      ],
      task: {
        zh: "翻转 `attention_mask` 的一格：整列都被遮住。",
        en: "Turn over a cell of `attention_mask`: its whole column is hidden.",
      },
      formulae: [masked("mask")],
      strip: "minimind",
      at: "weigh",
    },
    {
      id: "weights",
      part: "seven",
      title: { zh: "softmax 之后是权重", en: "After the softmax, weights" },
      body: [
        {
          zh: "逐行 softmax。未来的权重恰好为零；其余的分完一个 1。",
          en: "Softmax, row by row. The weights of the future are exactly zero; the others share out 1.",
        },
      ],
      formulae: [masked("softmax"), { id: "softmax", lit: ["max", "exp", "sum"] }],
      strip: "minimind",
      at: "weigh",
    },
    {
      id: "values",
      part: "seven",
      title: { zh: "乘以重复过的值", en: "Times the repeated values" },
      body: [
        {
          zh: "权重乘的是 $\\V$ 而不是 $\\K$：键用来被找到，值才是要交出去的。同组的查询头用同一份值，权重却各不相同。",
          en: "The weights multiply $\\V$ and not $\\K$: keys are for being found, values for being handed over. Query heads of a group use the same values, each with weights of its own.",
        },
      ],
      formulae: [masked("output")],
      strip: "minimind",
      at: "weigh",
    },
    {
      id: "home",
      part: "eight",
      title: { zh: "合头，回到主干", en: "Merge the heads, back to the trunk" },
      body: [
        {
          zh: "换回轴，各头并排，再由 `o_proj` 混合并投回 `hidden_size`。输出必须与 `x` 同形：它要加回残差的主干上，下一层才接得住。",
          en: "Axes swap back, heads stand side by side, and `o_proj` mixes them and returns to `hidden_size`. The output must have the shape of `x`: it is added to the residual trunk, where the next layer takes it up.",
        },
      ],
      formulae: [],
      strip: "minimind",
      at: "home",
    },
    {
      id: "branches",
      part: "whole",
      title: { zh: "快分支就是慢分支", en: "The fast branch is the plain one" },
      body: [
        {
          zh: "源码里还有一条快分支：不要权重表、没有缓存、没有补位时，交给融合好的内核去算。它不是另一种注意力。下面同一层跑两遍，一遍走快分支，一遍按前面的步骤逐步算，再相减：剩下的只是 float32 末位的舍入。",
          en: "The source has a fast branch too: when no table of weights is wanted, nothing is cached and nothing is padded, a fused kernel does the work. It is not another attention. Below the same layer runs twice, once on the fast branch and once pass by pass as in the steps before, and the results are subtracted: what remains is rounding in the last digits of float32.",
        },
      ],
      formulae: [masked("output")],
      strip: "minimind",
      at: "weigh",
    },
    {
      id: "variables",
      part: "whole",
      title: { zh: "八个变量", en: "Eight variables" },
      body: [
        {
          zh: "`forward` 里的八个名字，连同它们在你选的大小下真实的形状。形状变过的，两个都写出来。",
          en: "The eight names of `forward` with the shapes that they really have at the sizes you chose. Where a shape changes on the way, both are given.",
        },
      ],
      formulae: [],
      strip: "minimind",
      at: undefined,
    },
    {
      id: "labs",
      part: "whole",
      title: { zh: "实验 A 与 B", en: "Labs A and B" },
      body: [
        {
          zh: "课程的两个实验：打印每一步的形状和头 0 的权重，数一数分给未来的权重，再把整层用单个函数重新拼一遍，与模块相减。第三栏是你自己的大小。",
          en: "The lesson’s two labs: print the shapes and the weights of head 0, add up the weight given to the future, then put the layer together again from single functions and subtract it from the module. The third listing is for your own sizes.",
        },
        {
          zh: "在终端里是同一件事：`npx softlookup trace --hidden_size 96 --num_attention_heads 6 --num_key_value_heads 3`。",
          en: "The same in a terminal: `npx softlookup trace --hidden_size 96 --num_attention_heads 6 --num_key_value_heads 3`.",
        },
      ],
      formulae: [],
      strip: "minimind",
      at: undefined,
    },
  ],
  questions: minimindQuestions,
  seen: [
    {
      zh: "$\\Q$ 和 $\\K$ 决定看谁，$\\V$ 决定拿什么，softmax 决定拿多少，掩码决定不能看什么，`o_proj` 带着结果回到主干。",
      en: "$\\Q$ and $\\K$ decide who is looked at, $\\V$ what is taken, the softmax how much of it, the mask what is out of sight, and `o_proj` brings the result home.",
    },
    {
      zh: "键值头可以比查询头少：相邻的查询头共用一个，次序错了形状也看不出来。",
      en: "There may be fewer key/value heads than query heads: neighbours share one, and a wrong order does not show in the shapes.",
    },
    {
      zh: "RoPE 是旋转：长度不变，分数只取决于距离；两种配对不能混用。",
      en: "RoPE is a rotation: lengths stay, scores depend on distance alone, and the two pairings must not be mixed.",
    },
    {
      zh: "缓存和快分支只是省事：除了末位的舍入，不改变结果。",
      en: "The cache and the fast branch save work; but for rounding, neither changes the result.",
    },
  ],
} as const satisfies Lesson;

/** Words of the lesson's tables. */
export const minimindTerms = {
  line: { zh: "这一行", en: "Line" },
  inLetters: { zh: "形状", en: "Shape" },
  inNumbers: { zh: "这一遍的形状", en: "In this run" },
  hidden: same("$(B,\\,n,\\,\\text{hidden})$"),
  wideQ: same("$(B,\\,n,\\,H_q d_k)$"),
  wideKv: same("$(B,\\,n,\\,H_{kv}d_k)$"),
  cutQ: same("$(B,\\,n,\\,H_q,\\,d_k)$"),
  cutKv: same("$(B,\\,n,\\,H_{kv},\\,d_k)$"),
  headsFirst: same("$(B,\\,H_q,\\,n,\\,d_k)$"),
  square: same("$(B,\\,H_q,\\,n,\\,n)$"),
  newLength: same("$(B,\\,n_{\\text{new}},\\,H_{kv},\\,d_k)$"),
  allLength: same("$(B,\\,n_{\\text{past}}+n_{\\text{new}},\\,H_{kv},\\,d_k)$"),
  x: same("`x`"),
  xq: same("`xq`"),
  xk: same("`xk`"),
  xv: same("`xv`"),
  scores: same("`scores`"),
  attentionMask: same("`attention_mask`"),
  output: same("`output`"),
  pastKv: same("`past_kv`"),
  qProj: same("`q_proj(x)`"),
  kProj: same("`k_proj(x)`"),
  vProj: same("`v_proj(x)`"),
  qNorm: same("`q_norm(xq)`"),
  kNorm: same("`k_norm(xk)`"),
  qRope: { zh: "转过的 `xq`", en: "`xq`, turned" },
  kRope: { zh: "转过的 `xk`", en: "`xk`, turned" },
  newK: { zh: "新的 `xk`", en: "new `xk`" },
  pastK: { zh: "接上缓存的 `xk`", en: "`xk`, the past first" },
  pastV: { zh: "接上缓存的 `xv`", en: "`xv`, the past first" },
  xqSwapped: { zh: "换轴后的 `xq`", en: "`xq`, axes swapped" },
  xkRepeat: { zh: "重复并换轴后的 `xk`", en: "`xk`, repeated and swapped" },
  xvRepeat: { zh: "重复并换轴后的 `xv`", en: "`xv`, repeated and swapped" },
  masked: { zh: "加掩码后的 `scores`", en: "`scores`, masked" },
  weights: { zh: "softmax 之后", en: "after the softmax" },
  headOut: { zh: "乘以 `xv` 的 `output`", en: "`output`, times `xv`" },
  merged: { zh: "合头后的 `output`", en: "`output`, merged" },
  oProj: same("`o_proj(output)`"),
  variable: { zh: "变量", en: "Variable" },
  atFirst: { zh: "起初", en: "At first" },
  later: { zh: "后来", en: "Later" },
  meaning: { zh: "是什么", en: "What it is" },
  same: { zh: "不变", en: "the same" },
  xMeans: { zh: "进入注意力的隐藏状态", en: "the hidden states that come in" },
  xqMeans: { zh: "查询，拿去和键比对", en: "queries, held against keys" },
  xkMeans: { zh: "键，供查询比对", en: "keys, for queries to find" },
  xvMeans: { zh: "值，按权重汇总", en: "values, blended by the weights" },
  scoresMeans: { zh: "每个查询位置给每个键位置的分数", en: "a score for each pair of query and key" },
  maskMeans: {
    zh: "哪些 token 真实；后来能广播到 scores",
    en: "which tokens are real; later it broadcasts to the scores",
  },
  outputMeans: {
    zh: "汇总的结果，先按头，后回到主干",
    en: "the blend, by heads at first, then back on the trunk",
  },
  pastMeans: { zh: "留给下一个 token 的 `(xk, xv)`", en: "`(xk, xv)`, kept for the next token" },
  labA: {
    zh: "实验 A：64 宽；查询头 4 个，键值头 2 个",
    en: "Lab A: 64 wide; heads: 4 of queries, 2 of keys and values",
  },
  labB: {
    zh: "实验 B：96 宽；查询头 6 个，键值头 3 个",
    en: "Lab B: 96 wide; heads: 6 of queries, 3 of keys and values",
  },
  labOwn: {
    zh: "你的：{hidden} 宽；查询头 {heads} 个，键值头 {kvHeads} 个",
    en: "Yours: {hidden} wide; heads: {heads} of queries, {kvHeads} of keys and values",
  },
  mapRight: { zh: "`repeat_kv`：逐个重复", en: "`repeat_kv`: each repeated in a row" },
  mapTiled: { zh: "平铺：整列重复", en: "Tiled: the list repeated" },
  reads: { zh: "查询头 {h} 读键值头 {g}", en: "query head {h} reads key/value head {g}" },
  headLines: {
    zh: "h：查询头；g：键值头；虚线：读错了",
    en: "h: query heads; g: key/value heads; dashed: read from the wrong head",
  },
  halfPairs: { zh: "对半：$i$ 与 $i+d_k/2$", en: "Half-split: $i$ with $i+d_k/2$" },
  interleavedPairs: { zh: "交错：$2i$ 与 $2i+1$", en: "Interleaved: $2i$ with $2i+1$" },
  pairTurned: {
    zh: "分量 {a} 与 {b}：从 ({ax}, {ay}) 转到 ({bx}, {by})",
    en: "components {a} and {b}: from ({ax}, {ay}) to ({bx}, {by})",
  },
  beforeAfter: { zh: "虚线：转之前；实线：转之后", en: "dashed: before the turn; solid: after it" },
} as const satisfies Record<string, Text>;

/** Words of the lesson's figures and settings. */
export const minimindLabels = {
  ropePosition: { zh: "位置 $p$", en: "Position $p$" },
  hiddenSize: { zh: "隐藏宽度", en: "Hidden size" },
  queryHeads: { zh: "查询头数 $H_q$", en: "Query heads $H_q$" },
  shownHead: { zh: "看哪个查询头", en: "Query head shown" },
  past: { zh: "缓存里的 token", en: "Tokens in the cache" },
  start: { zh: "起点", en: "Start" },
  theta: { zh: "底数 $\\theta$", en: "Base $\\theta$" },
  xHidden: same("`x`"),
  qProj: same("`q_proj(x)`"),
  kProj: same("`k_proj(x)`"),
  vProj: same("`v_proj(x)`"),
  xq: { zh: "`xq`，头 {h}", en: "`xq`, head {h}" },
  xk: { zh: "`xk`，键值头 {h}", en: "`xk`, key/value head {h}" },
  xv: { zh: "`xv`，键值头 {h}", en: "`xv`, key/value head {h}" },
  qNorm: { zh: "`q_norm`，头 {h}", en: "`q_norm`, head {h}" },
  kNorm: { zh: "`k_norm`，键值头 {h}", en: "`k_norm`, key/value head {h}" },
  qRope: { zh: "转过的 `xq`", en: "`xq`, turned" },
  kRope: { zh: "转过的 `xk`", en: "`xk`, turned" },
  xvUnturned: { zh: "`xv` 不转", en: "`xv`, not turned" },
  beforeTurn: { zh: "转之前", en: "Before" },
  halfSplit: { zh: "对半", en: "Half-split" },
  interleaved: { zh: "交错", en: "Interleaved" },
  fromZero: { zh: "分数，位置从 0 起", en: "Scores, positions from 0" },
  fromStart: { zh: "分数，位置从 {s} 起", en: "Scores, positions from {s}" },
  pastK: { zh: "`xk`，接上过去", en: "`xk`, the past first" },
  pastV: { zh: "`xv`，接上过去", en: "`xv`, the past first" },
  outputCached: { zh: "输出，靠缓存", en: "Output, with the cache" },
  outputOnce: { zh: "输出，一次算完", en: "Output, all at once" },
  headRight: { zh: "头 {h}，逐个重复", en: "Head {h}, repeated" },
  headTiled: { zh: "头 {h}，平铺", en: "Head {h}, tiled" },
  qkHead: { zh: "$\\q\\cdot\\k$，头 {h}", en: "$\\q\\cdot\\k$, head {h}" },
  scaledHead: { zh: "`scores`，头 {h}", en: "`scores`, head {h}" },
  attentionMask: same("`attention_mask`"),
  xvRepeated: { zh: "重复过的 `xv`，头 {h}", en: "`xv` repeated, head {h}" },
  headOut: { zh: "头 {h} 的输出", en: "Output of head {h}" },
  oProj: same("`o_proj`"),
  fastBranch: { zh: "不要权重", en: "Without weights" },
  plainBranch: { zh: "要权重", en: "With weights" },
  projectedNumber: { zh: "前面一行算出的", en: "made by the line before" },
  notTurned: {
    zh: "值不转：与 `v_proj(x)` 逐位相同",
    en: "values are not turned: bit for bit what `v_proj(x)` made",
  },
  repeatedNumber: { zh: "来自本组共用的键值头", en: "from the key/value head that the group shares" },
  outputNumber: { zh: "这一层的输出", en: "output of the layer" },
  distance: { zh: "位置 {i} 看位置 {j}：", en: "position {i} looks at position {j}:" },
  pastToken: { zh: "token {i}，来自缓存", en: "token {i}, from the cache" },
  newInCall: { zh: "token {i}，这一次才算的", en: "token {i}, new in this call" },
  readsHead: { zh: "查询头 {h} 读的是键值头 {g}", en: "query head {h} has read key/value head {g}" },
  inFuture: { zh: "键 {j} 在未来", en: "key {j} lies in the future" },
} as const satisfies Record<string, Text>;
