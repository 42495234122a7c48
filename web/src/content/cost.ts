import type { Lesson } from "./lesson.ts";
import { costQuestions } from "./questions/cost.ts";
import type { Text } from "./text.ts";

const operations = (...lit: readonly ("project" | "attend")[]) => ({ id: "operations", lit }) as const;

export const cost = {
  id: "cost",
  title: { zh: "代价", en: "The cost" },
  question: {
    zh: "序列加长一倍，注意力要多付多少？",
    en: "When the sequence doubles, how much more does attention cost?",
  },
  lede: {
    zh: "每个 token 都看每个 token，这一眼一眼是要付账的：时间随 $n^2d$ 涨，分数表的内存随 $n^2$ 涨，参数却只有 $d^2$，与长度无关。这一课先数，再在你自己的浏览器里量，看数出来的和量出来的是不是一回事。",
    en: "Every token looks at every token, and each look has to be paid for: time grows as $n^2d$ and the table of scores as $n^2$, while parameters are $d^2$ and know nothing of length. This lesson first counts, then measures in your own browser, to see whether the count and the clock agree.",
  },
  sources: [
    {
      text: { zh: "课程第 5 章 §5、思考题 3", en: "The course’s chapter 5, §5 and thought question 3" },
    },
    {
      text: { zh: "Dao 等 2022（FlashAttention）", en: "Dao et al. 2022 (FlashAttention)" },
      url: "https://arxiv.org/abs/2205.14135",
    },
    {
      text: { zh: "Katharopoulos 等 2020（线性注意力）", en: "Katharopoulos et al. 2020 (linear attention)" },
      url: "https://arxiv.org/abs/2006.16236",
    },
  ],
  parts: {
    count: { zh: "数出来", en: "Counted" },
    measure: { zh: "量出来", en: "Measured" },
    other: { zh: "别的路", en: "Other ways" },
  },
  steps: [
    {
      id: "time",
      part: "count",
      title: { zh: "两种增长", en: "Two kinds of growth" },
      body: [
        {
          zh: "一层里有两种活。投影对每个 token 各做一次，随 $n$ 直线增长；打分和加权求和是每对 token 一次，随 $n^2$ 增长。一次乘加记作 2 次运算，softmax 不计。",
          en: "A layer has two kinds of work. Projections are done once per token and grow in a straight line with $n$; scores and weighted sums are done once per pair of tokens and grow with $n^2$. A multiply and an add count as 2 operations, the softmax is left out.",
        },
        {
          zh: "在双对数坐标里，指数就是斜率：一条是 1，一条是 2。它们相交之前，注意力其实是小头。",
          en: "On two logarithmic axes an exponent is a slope: one line has 1, the other 2. Before they cross, attention is the smaller part.",
        },
      ],
      task: {
        zh: "改变 $d$：两条线的交点往哪边走？",
        en: "Change $d$: which way does the crossing move?",
      },
      formulae: [operations("project", "attend")],
    },
    {
      id: "matrix",
      part: "count",
      title: { zh: "一张 n × n 的表", en: "A table of n × n" },
      body: [
        {
          zh: "把权重表整张存下来，每个头、每条序列都要 $n^2$ 个数。长度从 2048 到 8192 是四倍，表是十六倍。",
          en: "Kept whole, the table of weights takes $n^2$ numbers for every head and every sequence. From a length of 2048 to one of 8192 is a factor of four; the table grows by sixteen.",
        },
      ],
      formulae: [{ id: "scoresMemory", lit: [] }],
    },
    {
      id: "parameters",
      part: "count",
      title: { zh: "参数不知道长度", en: "Parameters know no length" },
      body: [
        {
          zh: "四个 $d\\times d$ 的矩阵，同一套权重用于任何长度的序列。宽度加倍，参数四倍；长度加倍，参数不变。",
          en: "Four matrices of $d\\times d$, and the same weights serve sequences of any length. Twice the width, four times the parameters; twice the length, none more.",
        },
      ],
      formulae: [{ id: "parameterCount", lit: [] }],
    },
    {
      id: "calculator",
      part: "count",
      title: { zh: "给你的模型算一算", en: "For a model of yours" },
      body: [
        {
          zh: "选好长度、宽度、头数、层数和每个数的字节。训练时要为反向传播留着每一层的表；生成时表只有一行，要留着的是键和值。",
          en: "Choose a length, a width, heads, layers and bytes per number. In training, the tables of all layers are kept for the backward pass; in generating, a table is a single row, and what is kept are keys and values.",
        },
      ],
      task: {
        zh: "找一个长度，让所有层的权重表比你电脑的内存还大。",
        en: "Find a length at which the tables of all layers are larger than your computer’s memory.",
      },
      formulae: [],
    },
    {
      id: "measure",
      part: "measure",
      title: { zh: "在这个浏览器里量", en: "Measured in this browser" },
      body: [
        {
          zh: "长度每次加倍，跑真正的核心并计时：全部键都看，只看滑窗里的键，以及线性注意力。计时在后台线程里进行，可以随时停下。指数由核心对量到的各点作最小二乘拟合。",
          en: "The length doubles again and again, and the real core is run against the clock: over all keys, over a sliding window, and as linear attention. It runs in a thread of its own and can be stopped at any time. The exponents are least-squares fits by the core over the measured points.",
        },
        {
          zh: "短序列上，每次调用的固定开销会把指数压低；越长，越接近数出来的。滑窗的斜率还会告诉你，这个核心是真的跳过了窗外的键，还是算完才遮住。",
          en: "Over short sequences the fixed cost of a call holds the exponent down; the longer they are, the closer it comes to the count. The window’s slope tells you one thing more: whether this core skips the keys outside of it, or computes them and then hides them.",
        },
      ],
      formulae: [operations("attend")],
    },
    {
      id: "peak",
      part: "measure",
      title: { zh: "内存的峰值", en: "The peak of memory" },
      body: [
        {
          zh: "同一个计算，一次要回权重表，一次不要，各在一个全新的核心里跑，看它的内存最后涨到多大。要表，就非有 $n^2$ 个数不可；不要表，算法就可以一小块一小块地做，带着每行的最大值和行和往前走（FlashAttention 的做法），永远用不着整张表。",
          en: "The same computation, once with the table of weights asked for and once without, each in a fresh core, to see how large its memory has grown in the end. Asked for, the table must have its $n^2$ numbers; not asked for, the work can go tile by tile, carrying along each row’s maximum and sum (FlashAttention’s way), and never needs a whole table.",
        },
        {
          zh: "画出来的是这个页面所用核心的真实读数：它在不要权重时是否真的省下了表，一看便知。核心一启动就占着 16 MiB，读数从那里起步。",
          en: "What is drawn are true readings of the core that runs this page, so whether it does save the table when no weights are wanted is there to be seen. A core starts out with 16 MiB, which is where the readings begin.",
        },
      ],
      formulae: [{ id: "scoresMemory", lit: [] }],
    },
    {
      id: "peers",
      part: "measure",
      title: { zh: "和别的库比", en: "Beside another library" },
      body: [
        {
          zh: "同一台机器、同一次运行、各用一个线程、轮流上场：这个核心的速度是 onnxruntime-web 的几倍，后者取它几种写法中最快的一种。时间换一台机器就变，比值大致不变，所以只列比值。",
          en: "On one machine, in one run, each with one thread and taking turns: how many times as fast this core is as onnxruntime-web, which counts as the fastest of its forms. A time is another on another machine, a ratio holds roughly; so ratios are all that is listed.",
        },
        {
          zh: "这张表不是在你的浏览器里量的，而是仓库里的一条命令记下来的：`npm run bench -- --record`。relaxed SIMD 允许把乘和加并成一条指令，引擎支持时会自动选用；表里小于 1 的地方，就是还不如对方的地方。",
          en: "This table was not measured in your browser but recorded by a command of the repository, `npm run bench -- --record`. Relaxed SIMD lets a multiply and an add be one instruction, and is chosen wherever the engine has it; where the table is below 1, the other is faster.",
        },
      ],
      formulae: [operations("project", "attend")],
    },
    {
      id: "window",
      part: "other",
      title: { zh: "只看最近的几个", en: "Only the latest few" },
      body: [
        {
          zh: "滑窗让每个查询只看自己和前面 $W-1$ 个键。每一行至多 $W$ 个 1，总数随 $nW$ 增长，不再是 $n^2$。远处的内容要靠一层接一层地传过来。",
          en: "A sliding window lets each query see itself and the $W-1$ keys before it. A row has $W$ ones at most, and their number grows as $nW$ instead of $n^2$. What lies further back has to be handed on from layer to layer.",
        },
      ],
      task: {
        zh: "把 $W$ 调到 $n$：窗就是因果掩码。",
        en: "Set $W$ to $n$: the window is the causal mask.",
      },
      formulae: [],
    },
    {
      id: "linear",
      part: "other",
      title: { zh: "换一个次序相乘", en: "Multiply in another order" },
      body: [
        {
          zh: "如果用 $\\phi(\\q)\\cdot\\phi(\\k)$ 代替指数，就可以先把 $\\phi(\\k)\\v^{\\top}$ 加起来，再让每个查询去读这个和：没有表，时间随 $n$ 增长。代价是它不再是同一个函数，同样的输入给出不同的输出。",
          en: "With $\\phi(\\q)\\cdot\\phi(\\k)$ in place of the exponential, the products $\\phi(\\k)\\v^{\\top}$ can be added up first, and each query reads their sum: there is no table, and time grows with $n$. The price is that it is another function, which gives other outputs for the same inputs.",
        },
      ],
      formulae: [{ id: "linear", lit: [] }],
    },
  ],
  questions: costQuestions,
  seen: [
    {
      zh: "长度加倍，投影的运算加倍，打分与加权求和的变成四倍；谁是大头，取决于 $n$ 和 $2d$ 谁大。",
      en: "When the length doubles, so do the projections, while scores and weighted sums take four times the operations; which part is larger depends on how $n$ compares with $2d$.",
    },
    {
      zh: "长度四倍，权重表十六倍；参数一个不多。",
      en: "Four times the length, sixteen times the table, and not one parameter more.",
    },
    {
      zh: "斜率是一把尺子：核心真正省下了哪部分活，量一量就知道。",
      en: "A slope is a yardstick: what work a core really leaves out shows when it is measured.",
    },
    {
      zh: "滑窗少看，线性注意力换了函数；分块计算什么也不改，只是不留整张表。",
      en: "A window looks at less, linear attention is another function; tiling changes nothing and merely keeps no table.",
    },
  ],
} as const satisfies Lesson;

/** Words of the lesson's tables and plots. */
export const costTerms = {
  length: { zh: "长度 $n$", en: "Length $n$" },
  width: { zh: "宽度 $d$", en: "Width $d$" },
  qkv: { zh: "投影 $\\Q,\\K,\\V$", en: "Projections $\\Q,\\K,\\V$" },
  outProjection: { zh: "输出投影", en: "Output projection" },
  attention: { zh: "注意力", en: "Attention" },
  total: { zh: "合计", en: "Total" },
  share: { zh: "注意力占比", en: "Attention’s share" },
  yours: { zh: "你的：{value}", en: "yours: {value}" },
  plain: { zh: "{value}", en: "{value}" },
  elements: { zh: "一个头的数", en: "Numbers, one head" },
  fp16One: { zh: "fp16，一个头", en: "fp16, one head" },
  fp16All: { zh: "fp16，{H} 个头", en: "fp16, heads: {H}" },
  fp32All: { zh: "fp32，{H} 个头", en: "fp32, heads: {H}" },
  parameters: { zh: "参数，一层", en: "Parameters, one layer" },
  perMatrix: { zh: "一个矩阵", en: "One matrix" },
  quantity: { zh: "量", en: "Quantity" },
  value: { zh: "值", en: "Value" },
  headDim: { zh: "头维", en: "Head dim" },
  layerOperations: { zh: "运算，一层，整条序列", en: "Operations, one layer, whole sequence" },
  decodeOperations: { zh: "运算，一层，再生成一个 token", en: "Operations, one layer, one token more" },
  tableOne: { zh: "权重表，一层", en: "Tables of weights, one layer" },
  tableAll: { zh: "权重表，所有层（训练）", en: "Tables of weights, all layers (training)" },
  kvCache: { zh: "KV 缓存，所有层（生成）", en: "KV cache, all layers (generating)" },
  operationsByLength: { zh: "一层的运算，随长度", en: "Operations of one layer by length" },
  operationsAxis: { zh: "运算次数", en: "operations" },
  lengthAxis: { zh: "长度 $n$，token", en: "length $n$, tokens" },
  projections: { zh: "投影 $8nd^2$，斜率 {slope}", en: "projections $8nd^2$, slope {slope}" },
  pairs: { zh: "注意力 $4n^2d$，斜率 {slope}", en: "attention $4n^2d$, slope {slope}" },
  timesTitle: { zh: "一次调用的时间", en: "Time of one call" },
  timeAxis: { zh: "毫秒", en: "milliseconds" },
  full: { zh: "全部键", en: "all keys" },
  windowed: { zh: "滑窗，因果", en: "sliding window, causal" },
  linear: { zh: "线性注意力", en: "linear attention" },
  measuredName: { zh: "量的是", en: "Measured" },
  exponent: { zh: "拟合出的指数", en: "Fitted exponent" },
  counted: { zh: "数出来的", en: "Counted" },
  notYet: { zh: "还没有两点", en: "not two points yet" },
  peakTitle: { zh: "核心的内存涨到多大", en: "How large the core’s memory grew" },
  memoryAxis: { zh: "MiB", en: "MiB" },
  withTable: { zh: "要权重表", en: "weights asked for" },
  withoutTable: { zh: "不要权重表", en: "not asked for" },
  tableItself: { zh: "表本身，float32", en: "the table itself, float32" },
  windowMask: { zh: "滑窗掩码", en: "Window mask" },
  visible: { zh: "看得见的键", en: "Keys seen" },
  softmaxOutput: { zh: "softmax 注意力", en: "Softmax attention" },
  linearOutput: { zh: "线性注意力", en: "Linear attention" },
  window: { zh: "窗宽 $W$", en: "Window $W$" },
} as const satisfies Record<string, Text>;
