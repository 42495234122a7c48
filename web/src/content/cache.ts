import type { Lesson } from "./lesson.ts";
import { cacheQuestions } from "./questions/cache.ts";
import { same, type Text } from "./text.ts";

const decode = (...lit: readonly ("scores" | "softmax" | "output")[]) => ({ id: "decode", lit }) as const;

export const cache = {
  id: "cache",
  title: { zh: "边生成边缓存", en: "Generating with a cache" },
  question: {
    zh: "模型逐个生成 token 时，哪些数不必重算？",
    en: "When a model generates token by token, which numbers need not be computed again?",
  },
  lede: {
    zh: "训练时整条序列一次算完；生成时每一步只多出一个 token。因果掩码保证了过去的行不会再变，所以新的一步只欠一行：一个查询，对着迄今所有的键和值。把键和值留下来，就是 KV 缓存。",
    en: "In training a whole sequence is computed at once; in generating each step adds one token. The causal mask sees to it that the rows of the past never change again, so a new step owes a single row: one query against all keys and values so far. Keeping those is the KV cache.",
  },
  sources: [
    { text: { zh: "课程第 5 章 §3 自检", en: "The course’s chapter 5, §3, self-check" } },
    { text: { zh: "MiniMind 第 11 课 §3 第 5 步", en: "MiniMind, lesson 11, §3, step 5" } },
  ],
  parts: {
    row: { zh: "只欠一行", en: "One row is owed" },
    cache: { zh: "缓存", en: "The cache" },
    cost: { zh: "省下多少，花掉多少", en: "What it saves and what it costs" },
  },
  steps: [
    {
      id: "row",
      part: "row",
      title: { zh: "旧的行一位不变", en: "The old rows keep every bit" },
      body: [
        {
          zh: "先是只有 token $0\\dots t-1$ 时的权重和输出，再是 token $t$ 到来之后，从头再算的一遍。双线以上逐位相同：因果掩码不让旧的行看新的 token，重算它们是白费。新的只有双线下面那一行。",
          en: "First, weights and outputs while there were only tokens $0\\dots t-1$; then everything computed again after token $t$ came. Above the double line every bit is the same: the causal mask keeps the new token from the old rows, and computing them again is wasted. Only the row below the line is new.",
        },
      ],
      task: {
        zh: "移动 $t$，看三角形一次长出一行。",
        en: "Move $t$ and watch the triangle grow by a row at a time.",
      },
      formulae: [{ id: "masked", lit: ["mask", "output"] }],
      strip: "masked",
      at: "output",
    },
    {
      id: "mask",
      part: "row",
      title: { zh: "这一行没有什么可遮", en: "In this row there is nothing to hide" },
      body: [
        {
          zh: "三角形的最后一行全是 1：新 token 后面什么也没有。所以逐个生成的一步，掩码是 $1\\times(t+1)$，全部可看，可以不传。",
          en: "The last row of the triangle is all ones: nothing comes after the newest token. So the mask of a single decoding step is $1\\times(t+1)$ and lets everything through; it need not be passed.",
        },
        {
          zh: "前提是对齐到*右下角*：这一个查询是序列的最后一个，不是第一个。照左上角对齐，同样的因果规则只让它看键 0：一个真实存在、不会报错的错误。",
          en: "That is so if it is lined up with the *bottom right*: this one query is the last of the sequence, not the first. Lined up with the top left, the same causal rule lets it see key 0 alone: a mistake that really occurs, and raises no error.",
        },
      ],
      formulae: [{ id: "masked", lit: ["mask"] }],
      strip: "masked",
      at: "mask",
    },
    {
      id: "cached",
      part: "cache",
      title: { zh: "一步：追加一行，查一次", en: "One step: append a row, look once" },
      body: [
        {
          zh: "缓存里已有 token $0\\dots t-1$ 的键和值。这一步算出 $\\q_t$、$\\k_t$、$\\v_t$，把 $\\k_t$、$\\v_t$ 追加在双线下面，再让 $\\q_t$ 对整个缓存做一次注意力。$\\q_t$ 用完就丢：以后的 token 再也不问旧的查询，所以缓存的是 K 和 V，不是 Q。",
          en: "The cache holds keys and values of tokens $0\\dots t-1$. This step computes $\\q_t$, $\\k_t$ and $\\v_t$, appends $\\k_t$ and $\\v_t$ below the double line, and lets $\\q_t$ attend to the whole cache once. Then $\\q_t$ is dropped: no later token asks for an old query. That is why K and V are cached, not Q.",
        },
      ],
      formulae: [decode("scores", "softmax", "output")],
      strip: "masked",
      at: "output",
    },
    {
      id: "equal",
      part: "cache",
      title: { zh: "两条路，同样的数", en: "Two ways, the same numbers" },
      body: [
        {
          zh: "先是整条序列一次算完，再从空的缓存开始，一次一个 token，最后是两者之差。差不是“很小”，而是零：核心对每一行按同样的次序做同样的运算。",
          en: "First the whole sequence at once; then, from an empty cache, one token at a time; last the difference. It is not small but zero: for each row the core does the same operations in the same order.",
        },
      ],
      task: {
        zh: "换长度、换种子，试着让差不为零。",
        en: "Choose other lengths and seeds; see whether you can make the difference anything else.",
      },
      formulae: [decode("output")],
      strip: "masked",
      at: "output",
    },
    {
      id: "chunks",
      part: "cache",
      title: { zh: "一次几个 token", en: "Several tokens at a time" },
      body: [
        {
          zh: "提示词不必逐个喂：一段 $c$ 个 token 可以一起进来，对着过去的 $p$ 个键和自己。这时掩码又有了用处：它是 $c\\times(p+c)$，过去全部可看，段内仍是三角形。第 $i$ 个查询看到键 $p+i$ 为止。",
          en: "A prompt need not be fed one by one: a chunk of $c$ tokens can enter together, against the $p$ keys of the past and itself. Now there is a use for the mask again: it is $c\\times(p+c)$, the past wholly visible, a triangle inside the chunk. Query $i$ sees keys up to $p+i$.",
        },
        {
          zh: "把它当成没有过去来遮（对齐到左上角），就会遮掉该看的过去；因为有缓存就不遮，段内又会看见未来。按 $c$ 个分段，结果与整条序列仍逐位相同。",
          en: "Masked as though there were no past (lined up with the top left), it hides a past that should be seen; not masked because there is a cache, the chunk sees its own future. In chunks of $c$ the result is still that of the whole sequence, bit for bit.",
        },
      ],
      formulae: [{ id: "masked", lit: ["mask"] }],
      strip: "masked",
      at: "mask",
    },
    {
      id: "count",
      part: "cost",
      title: { zh: "数一数乘加", en: "Counting multiply-adds" },
      body: [
        {
          zh: "第 $n$ 个 token 要多少次运算（一次乘加算两次）？从头重算，四个投影是 $8nd^2$，分数和加权和是 $4n^2d$；有缓存，只剩一行：$8d^2$ 加 $4nd$。短序列里省下的主要是投影，长序列里是注意力本身。",
          en: "How many operations does token $n$ take (a multiply-add is two)? Computed afresh, the four projections are $8nd^2$, scores and weighted sum $4n^2d$. With a cache one row is left: $8d^2$ and $4nd$. In short sequences it is the projections that are saved, in long ones attention itself.",
        },
      ],
      formulae: [],
    },
    {
      id: "time",
      part: "cost",
      title: { zh: "在你的浏览器里量一量", en: "Measured in your own browser" },
      body: [
        {
          zh: "同一个核心，4 个头，头维 32，只量注意力：从头重算一遍，或者往缓存里添一个 token。每个点是三批中最快的一批的平均。时间取决于你的机器，斜率不怎么取决于它。",
          en: "The same core, 4 heads, head dim 32, attention alone: everything afresh, or one token more against the cache. Each point is the mean of the fastest of three batches. The times depend on your machine; the slopes hardly do.",
        },
      ],
      formulae: [decode("scores", "softmax", "output")],
    },
    {
      id: "memory",
      part: "cost",
      title: { zh: "缓存占多少内存", en: "What the cache takes" },
      body: [
        {
          zh: "时间是拿内存换来的：每一层、每个键值头、每个 token，都留着一个键和一个值。键值头的数目可以比查询头少（GQA），缓存就按比例变小。",
          en: "Time is bought with memory: for every layer, every key/value head and every token a key and a value are kept. There may be fewer key/value heads than query heads (GQA), and the cache shrinks in proportion.",
        },
      ],
      task: {
        zh: "先取 32 个键值头，再减到 8 个：同样的内存，长度可以是原来的几倍？",
        en: "Take 32 key/value heads, then 8: in the same memory, how many times as long can the sequence be?",
      },
      formulae: [{ id: "cacheMemory", lit: [] }],
    },
  ],
  questions: cacheQuestions,
  seen: [
    {
      zh: "生成的一步只欠一行：$1\\times(t+1)$，没有什么可遮。旧的行不会再变。",
      en: "A step of generating owes one row, $1\\times(t+1)$, with nothing to hide. Old rows never change again.",
    },
    {
      zh: "缓存键和值，逐个生成或分段生成，与整条序列一次算完逐位相同。",
      en: "With keys and values cached, one by one or in chunks, the outputs are those of the whole sequence, bit for bit.",
    },
    {
      zh: "每个新 token 的运算从 $n^2$ 级降到 $n$ 级，代价是与长度成正比的内存。",
      en: "The operations for a new token fall from the order of $n^2$ to that of $n$, at the price of memory in proportion to the length.",
    },
  ],
} as const satisfies Lesson;

/** Words of the lesson's figures and plots. */
export const cacheTerms = {
  position: { zh: "位置 $t$", en: "Position $t$" },
  chunk: { zh: "每段 $c$ 个", en: "Chunks of $c$" },
  tokens: { zh: "长度 $n$", en: "Tokens $n$" },
  bytes: { zh: "字节", en: "bytes" },
  sameBits: {
    zh: "所有输出逐位相同。最大的差：{size}",
    en: "All outputs agree to the last bit. Largest difference: {size}",
  },
  otherBits: {
    zh: "输出不是逐位相同。最大的差：{size}",
    en: "The outputs are not the same to the bit. Largest difference: {size}",
  },
  operationsByLength: { zh: "生成下一个 token 的运算次数", en: "Operations for the next token" },
  tokensSoFar: { zh: "到这个 token 为止的长度 $n$", en: "length $n$ with this token" },
  operations: { zh: "运算（一次乘加算两次）", en: "operations (a multiply-add is two)" },
  anew: { zh: "从头重算", en: "computed afresh" },
  withCache: { zh: "有缓存", en: "with the cache" },
  timeByLength: { zh: "生成下一个 token 的时间", en: "Time for the next token" },
  milliseconds: { zh: "毫秒", en: "milliseconds" },
  weightsUntil: { zh: "权重，到 $t-1$ 为止", en: "Weights up to $t-1$" },
  weightsNow: { zh: "权重，到 $t$ 为止", en: "Weights up to $t$" },
  outputUntil: { zh: "输出，到 $t-1$ 为止", en: "Output up to $t-1$" },
  outputNow: { zh: "输出，到 $t$ 为止", en: "Output up to $t$" },
  stepMask: { zh: "这一步的掩码", en: "Mask of this step" },
  misaligned: { zh: "对齐到左上角（错）", en: "Top left (wrong)" },
  chunkMask: { zh: "这一段的掩码", en: "Mask of the chunk" },
  newQuery: same(String.raw`$\q_t$`),
  cachedKeys: { zh: "缓存的 $\\K$", en: "Cached $\\K$" },
  cachedValues: { zh: "缓存的 $\\V$", en: "Cached $\\V$" },
  outputRow: same("$o_t$"),
  whole: { zh: "一次算完", en: "All at once" },
  throughCache: { zh: "经过缓存", en: "Through the cache" },
  newRow: { zh: "新的一行", en: "the new row" },
  fromCache: { zh: "早已在缓存里", en: "already in the cache" },
  appended: { zh: "这一步追加的", en: "appended in this step" },
  dropped: { zh: "只用这一次", en: "used this once" },
  atOnce: { zh: "整条序列一次算完，第 {i} 行", en: "the whole sequence at once, row {i}" },
  fromCacheRow: { zh: "token {i} 进来时对着缓存算出", en: "computed against the cache when token {i} came" },
} as const satisfies Record<string, Text>;
