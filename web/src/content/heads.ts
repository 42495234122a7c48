import type { Lesson } from "./lesson.ts";
import { headsQuestions } from "./questions/heads.ts";
import { same, type Text } from "./text.ts";

const multiHead = (...lit: readonly ("concat" | "attend" | "mix")[]) => ({ id: "multiHead", lit }) as const;
const head = (...lit: readonly ("project" | "attend")[]) => ({ id: "head", lit }) as const;

export const heads = {
  id: "heads",
  title: { zh: "多头", en: "Heads" },
  question: {
    zh: "多头是把注意力复制了几份，还是切成了几段？",
    en: "Are many heads many copies of attention, or one cut into pieces?",
  },
  lede: {
    zh: "一行权重只能说一件事：主语在哪儿，或者代词指谁，却不能同时说两件。多头让同一层同时说几件。常见的误会是：那就是把整个计算重复 $H$ 遍。其实宽度 $d$ 被切成 $H$ 段，每段只有 $d_k=d/H$ 宽；矩阵乘法的运算量不变，参数也一个不多。",
    en: "A row of weights can say one thing: where the subject is, or whom the pronoun means, but not both at once. Heads let one layer say several. The usual misunderstanding is that the whole computation is repeated $H$ times. What happens is that the width $d$ is cut into $H$ pieces, each only $d_k=d/H$ wide, the matrix products take as many multiplications as before, and not a parameter is added.",
  },
  sources: [
    {
      text: {
        zh: "课程第 5 章 §4.1–4.4、§6（脚本 03）",
        en: "The course’s chapter 5, §4.1–4.4 and §6 (script 03)",
      },
    },
    {
      text: { zh: "Vaswani 等 2017，§3.2.2", en: "Vaswani et al. 2017, §3.2.2" },
      url: "https://arxiv.org/abs/1706.03762",
    },
  ],
  parts: {
    walk: { zh: "走一遍一层", en: "One layer, walked through" },
    tests: { zh: "动手检验", en: "Put to the test" },
    sizes: { zh: "形状与参数", en: "Shapes and parameters" },
  },
  steps: [
    {
      id: "project",
      part: "walk",
      title: { zh: "一次投影，为所有的头", en: "One projection for all heads" },
      body: [
        {
          zh: "整个 $X$ 乘一个 $d\\times d$ 的大矩阵，得到 $\\Q$；$\\K$ 和 $\\V$ 也各有一个。此时还看不到头：头不过是 $W^Q$ 的列分成的组。属于头 $h$ 的列，只由矩阵里它自己的 $d_k$ 列算出。",
          en: "All of $X$ meets one large $d\\times d$ matrix, which gives $\\Q$; $\\K$ and $\\V$ have one each. No head can be seen yet: heads are only groups of columns of $W^Q$. What will belong to head $h$ is made by its own $d_k$ columns of the matrix and by no others.",
        },
      ],
      task: {
        zh: "改动 token 的一个数：它所在的那一行，每一个头都会变。头切的是宽度，不是 token。",
        en: "Change one number of a token: in its row every head changes. Heads divide the width, not the tokens.",
      },
      formulae: [multiHead("attend"), head("project")],
      strip: "heads",
      at: "project",
    },
    {
      id: "split",
      part: "walk",
      title: { zh: "切成头", en: "Cut into heads" },
      body: [
        {
          zh: "切头不做任何计算：同样的数字，每 $d_k$ 列归一个头。代码写作先 `reshape` 成 $(n,H,d_k)$，再交换前两个轴，得到 $(H,n,d_k)$。每个头手里都有全部 $n$ 个 token，只是窄了。",
          en: "Cutting computes nothing: the numbers are the same, and every $d_k$ columns go to one head. In code it is a `reshape` to $(n,H,d_k)$ and then a swap of the first two axes, to $(H,n,d_k)$. Each head holds all $n$ tokens, only narrower.",
        },
      ],
      task: {
        zh: "把 $H$ 调到最大：每个头只剩一列。调到 1：没有切，就是前面的注意力。",
        en: "Set $H$ as high as it goes: one column is left to each head. Set it to 1: nothing is cut, and this is plain attention.",
      },
      formulae: [multiHead("attend"), head("project")],
      strip: "heads",
      at: "split",
    },
    {
      id: "attend",
      part: "walk",
      title: { zh: "每个头各看各的", en: "Each head looks for itself" },
      body: [
        {
          zh: "从这里起各头互不相干：各算各的分数，各除以 $\\sqrt{d_k}$（不是 $\\sqrt{d}$），各做各的 softmax。同一批 token 于是有了 $H$ 张不同的权重表，每一张的每一行都分完一个 1。",
          en: "From here on the heads have nothing to do with each other: each takes its own scores, divides by $\\sqrt{d_k}$ (not by $\\sqrt{d}$), and runs its own softmax. The same tokens now have $H$ different tables of weights, and in each of them every row shares out 1.",
        },
      ],
      task: {
        zh: "找一个 token，它在两个头里最看重的键不同。",
        en: "Find a token whose heaviest key in one head is not its heaviest in another.",
      },
      formulae: [multiHead("attend"), head("attend")],
      strip: "heads",
      at: "attend",
    },
    {
      id: "concat",
      part: "walk",
      title: { zh: "并排放回去", en: "Side by side again" },
      body: [
        {
          zh: "每个头用自己的权重调和自己那一段 $\\V$，给出 $(n,d_k)$。把 $H$ 个结果并排放好，宽度又回到 $d$。并排就只是并排：到这里，没有一个数见过别的头。",
          en: "Each head blends its own piece of $\\V$ with its own weights, which gives $(n,d_k)$. Set side by side, the $H$ results are $d$ wide again. Side by side is all it is: up to here no number has met another head.",
        },
      ],
      formulae: [multiHead("concat")],
      strip: "heads",
      at: "concat",
    },
    {
      id: "mix",
      part: "walk",
      title: { zh: "最后由一个矩阵混合", en: "Last, one matrix mixes" },
      body: [
        {
          zh: "$W^O$ 是 $d\\times d$ 的。输出的每个分量，是那一行所有头的所有分量的加权和：各头的发现第一次走到一起。",
          en: "$W^O$ is $d\\times d$. Each component of the output is a weighted sum over every component of every head in that row: what the heads found comes together for the first time.",
        },
      ],
      formulae: [multiHead("mix")],
      strip: "heads",
      at: "mix",
    },
    {
      id: "silence",
      part: "tests",
      title: { zh: "让一个头闭嘴", en: "Silence one head" },
      body: [
        {
          zh: "要看是谁在混合各头，就让一个头什么也不交出：把它的 $W^V$ 列清零。先拿掉 $W^O$（换成单位矩阵）：只有这个头自己的列动了。再放回 $W^O$：整张输出都动了。",
          en: "To see what mixes the heads, let one of them hand over nothing: the columns of $W^V$ that are its own become zero. First without $W^O$, an identity in its place: only that head’s own columns move. Then with it: the whole output moves.",
        },
      ],
      task: {
        zh: "换一个头来闭嘴。没有 $W^O$ 时动了几列？有 $W^O$ 时呢？",
        en: "Silence another head. How many columns move without $W^O$, and how many with it?",
      },
      formulae: [multiHead("concat", "mix")],
      strip: "heads",
      at: "mix",
    },
    {
      id: "loop",
      part: "tests",
      title: { zh: "3H 个小矩阵，还是 3 个大的", en: "3H small matrices, or 3 large ones" },
      body: [
        {
          zh: "公式按字面读，是 $3H$ 个 $d\\times d_k$ 的小矩阵，一个头接一个头地算。没有人这样写程序：把小矩阵并排起来就是大矩阵，一次乘完，再切。下面两种都真的算了一遍。",
          en: "Read literally, the formula has $3H$ small $d\\times d_k$ matrices, and one head is computed after the other. Nobody writes programs so: set side by side, the small matrices are the large one; multiply once, then cut. Below both have really been computed.",
        },
        {
          zh: "第三张是两者之差。如果不全是零，那只是加法次序不同留下的末位舍入。",
          en: "The third matrix is the difference. Should it not be zero throughout, what is left is rounding in the last digit, from another order of additions.",
        },
      ],
      formulae: [head("project"), multiHead("concat")],
      strip: "heads",
      at: "project",
    },
    {
      id: "view",
      part: "tests",
      title: { zh: "忘了交换轴", en: "The forgotten swap" },
      body: [
        {
          zh: "合头时，$(H,n,d_k)$ 必须先把轴换回 $(n,H,d_k)$，再摊平成 $(n,d)$。忘了交换，形状照样对，不报错，训练甚至也能往下降；数字却已经坐错了位置：内存里头 0 的所有 token 排在最前面，于是前几行全归了头 0。",
          en: "To merge the heads, $(H,n,d_k)$ must first be swapped back to $(n,H,d_k)$, then flattened to $(n,d)$. Forget the swap and the shape is right all the same, nothing complains, even training goes down; but the numbers sit in the wrong places. In memory all tokens of head 0 come first, so the first rows are filled from head 0 alone.",
        },
      ],
      task: {
        zh: "先猜：哪些格子碰巧仍是对的？再找出让整张表都碰巧正确的大小。",
        en: "Guess first: which cells are right by luck? Then find sizes for which luck covers the whole matrix.",
      },
      formulae: [multiHead("concat")],
      strip: "heads",
      at: "concat",
    },
    {
      id: "shapes",
      part: "sizes",
      title: { zh: "一串形状", en: "A string of shapes" },
      body: [
        {
          zh: "记住这串形状，多头注意力就写得出来：宽的，切开，方的，方的，切开，宽的，宽的。下面每一行都取自核心真正跑过的一遍，大小由你定。",
          en: "Whoever remembers this string of shapes can write multi-head attention: wide, cut, square, square, cut, wide, wide. Each line below is from a real run of the core, at the sizes that you choose.",
        },
      ],
      formulae: [multiHead("attend", "concat", "mix")],
      strip: "heads",
      at: undefined,
    },
    {
      id: "parameters",
      part: "sizes",
      title: { zh: "参数与头数无关", en: "Parameters do not depend on heads" },
      body: [
        {
          zh: "四个矩阵，各 $d\\times d$，共 $4d^2$：公式里没有 $H$。头多一倍，每个头就窄一半。最后一列不是公式算的，是真的建了一层，问它有多少个参数。",
          en: "Four matrices of $d\\times d$ each, $4d^2$ together: there is no $H$ in it. Twice the heads, each half as wide. The last column comes from no formula: a layer was built and asked how many parameters it has.",
        },
        {
          zh: "那么头取多少个？头多，能同时看的关系多，但每个头只剩很窄的空间来比对；头少则相反。GPT-2 的 $d=768$、$H=12$，让每个头和当年的 $(512,8)$ 一样宽：64。",
          en: "How many heads, then? More heads follow more relations at once, but each compares in a narrower space; with fewer it is the other way about. With $d=768$ and $H=12$ GPT-2 keeps each head as wide as in $(512,8)$: 64.",
        },
      ],
      formulae: [multiHead("attend", "mix")],
      strip: "heads",
      at: undefined,
    },
  ],
  questions: headsQuestions,
  seen: [
    {
      zh: "头是宽度的切分：每个头有全部 token，只有 $d/H$ 宽；切头、合头都不做计算。",
      en: "Heads divide the width: each has all tokens and is $d/H$ wide; cutting and merging compute nothing.",
    },
    {
      zh: "一个头接一个头算，和三个大矩阵一次算完，是同一件事。",
      en: "One head after the other, or three large matrices at once: it is the same computation.",
    },
    {
      zh: "没有 $W^O$，各头互不往来；有了它，一个头动，整张输出都动。",
      en: "Without $W^O$ the heads never meet; with it, one head moves the whole output.",
    },
    {
      zh: "参数是 $4d^2$，与 $H$ 无关。",
      en: "There are $4d^2$ parameters, whatever $H$ is.",
    },
    {
      zh: "忘了交换轴，形状对而数字错：只看形状查不出来。",
      en: "With the swap forgotten the shape is right and the numbers are wrong: shapes alone do not show it.",
    },
  ],
  later: [
    {
      zh: "*一个头装不下两种模式。*这要靠训练才看得见，而训练需要反向传播，核心里还没有；等它有了，这里是一个含两种关系的小任务，一个头对两个头。",
      en: "*One head cannot hold two patterns.* This shows only in training, which needs a backward pass that the core does not have yet; then a small task with two relations will stand here, one head against two.",
    },
  ],
} as const satisfies Lesson;

/** Words of the lesson's figures, settings and tables. */
export const headsTerms = {
  what: { zh: "量", en: "What" },
  inLetters: { zh: "形状", en: "Shape" },
  inNumbers: { zh: "这一遍的形状", en: "In this run" },
  how: { zh: "怎么来的", en: "How it came about" },
  wide: same("$(B,\\,n,\\,d)$"),
  cut: same("$(B,\\,H,\\,n,\\,d_k)$"),
  square: same("$(B,\\,H,\\,n,\\,n)$"),
  qkv: same("$\\Q,\\,\\K,\\,\\V$"),
  qkvCut: { zh: "$\\Q,\\,\\K,\\,\\V$，切头后", en: "$\\Q,\\,\\K,\\,\\V$, cut" },
  softmax: same("softmax"),
  timesV: same("$\\times\\,\\V$"),
  timesWo: same("$\\times\\,W^O$"),
  given: { zh: "输入", en: "the input" },
  projected: { zh: "三次投影，$d\\to d$", en: "three projections, $d\\to d$" },
  cutUp: { zh: "`reshape`，再 `transpose`", en: "`reshape`, then `transpose`" },
  scored: { zh: "每个头里，每个查询会见每个键", en: "in each head every query meets every key" },
  shared: { zh: "逐行分完 1", en: "each row shares out 1" },
  blended: { zh: "每个头调和自己那一段 $\\V$", en: "each head blends its own piece of $\\V$" },
  mergedHow: { zh: "`transpose`，再 `reshape`", en: "`transpose`, then `reshape`" },
  mixed: { zh: "各头混合，$d\\to d$", en: "the heads are mixed, $d\\to d$" },
  sizes: same("$(d,\\,H)$"),
  headDim: same("$d_k$"),
  pair: same("({d}, {H})"),
  yours: { zh: "你的：({d}, {H})", en: "yours: ({d}, {H})" },
  total: { zh: "合计", en: "Total" },
  counted: { zh: "建出来数", en: "Counted in a layer" },
  silent: { zh: "闭嘴的头", en: "Head to silence" },
  wo: same("$W^O$"),
  headNumber: { zh: "头 {h}", en: "Head {h}" },
  withoutMix: { zh: "没有 $W^O$", en: "Without $W^O$" },
  withMix: { zh: "有 $W^O$", en: "With $W^O$" },
  headSilent: { zh: "头 {h} 闭嘴后", en: "Head {h} silenced" },
  threeLarge: { zh: "3 个大矩阵", en: "3 large matrices" },
  manySmall: { zh: "$3H$ 个小矩阵，逐头计算", en: "$3H$ small ones, head by head" },
  swapped: { zh: "先换轴，再摊平", en: "Swapped, then flattened" },
  viewAlone: { zh: "直接摊平", en: "Flattened as it lies" },
  drawnWeight: { zh: "随机抽取，再除以宽度的平方根", en: "drawn, then divided by the root of the width" },
  goesToHead: { zh: "归头 {h}，成为它的分量 {j}", en: "goes to head {h}, as its component {j}" },
  inPlace: {
    zh: "是头 {h} 给 token {i} 的，正该在这里",
    en: "is what head {h} made for token {i}, and belongs here",
  },
  comesFrom: {
    zh: "是头 {from} 给 token {of} 的，这里该是头 {h} 给 token {i} 的",
    en: "is what head {from} made for token {of}; here belongs what head {h} made for token {i},",
  },
} as const satisfies Record<string, Text>;
