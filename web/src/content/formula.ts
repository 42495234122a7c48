import type { Lesson } from "./lesson.ts";
import { formulaQuestions } from "./questions/formula.ts";

const attention = (...lit: readonly ("inputs" | "scores" | "scaled" | "softmax" | "output")[]) =>
  ({ id: "attention", lit }) as const;
const softmax = (lit: "max" | "exp" | "sum") => ({ id: "softmax", lit: [lit] }) as const;

export const formula = {
  id: "formula",
  title: { zh: "公式", en: "The formula" },
  question: {
    zh: "注意力怎样把四个 token 变成四个新向量？",
    en: "How does attention turn four tokens into four new vectors?",
  },
  lede: {
    zh: "设想一本从不只翻到一个词条的字典：一个查询同每个键比对，答案由所有的值调和而成，键越合拍，它的值占的份量越大。一行公式就能为所有 token 同时做完这件事；这里把它拆开，一次只走一步运算。",
    en: "Picture a dictionary that never settles on a single entry. A query is held against every key, and the answer is a blend of all the values, most of it from the keys that fit best. One line of algebra does this for every token at once; here it runs one operation at a time.",
  },
  sources: [
    { text: { zh: "课程第 5 章 §2.1–2.4", en: "The course’s chapter 5, §2.1–2.4" } },
    {
      text: { zh: "Vaswani 等 2017，§3.2.1", en: "Vaswani et al. 2017, §3.2.1" },
      url: "https://arxiv.org/abs/1706.03762",
    },
  ],
  steps: [
    {
      id: "inputs",
      title: { zh: "三个矩阵进来", en: "Three matrices go in" },
      body: [
        {
          zh: "每个 token 带来三个短向量：查询 $\\q_i$，它在找什么；键 $\\k_i$，凭什么找到它；值 $\\v_i$，找到之后它交出什么。$\\Q$、$\\K$、$\\V$ 的第 $i$ 行都属于 token $i$，$\\Q$ 和 $\\K$ 的一行有 $d_k$ 个数。",
          en: "Every token brings three short vectors: a query $\\q_i$, what it is looking for; a key $\\k_i$, what it can be found by; a value $\\v_i$, what it hands over once found. Row $i$ of $\\Q$, $\\K$ and $\\V$ belongs to token $i$, and a row of $\\Q$ or $\\K$ holds $d_k$ numbers.",
        },
        {
          zh: "在模型里，三者由同一批 token 经过三个各自学得的投影得到。课程这一例从 $\\Q=\\K$ 起步，只是为了算式短；后面的步骤都不依赖这一点。",
          en: "In a model all three come from the same tokens, through three projections learned separately. The chapter’s example starts from $\\Q=\\K$ only to keep the arithmetic short; no later step depends on it.",
        },
      ],
      task: {
        zh: "改动任意一个数，后面每一步都会立刻跟着变。",
        en: "Change any number: every later step follows at once.",
      },
      formulae: [attention("inputs")],
      strip: "plain",
      at: "inputs",
    },
    {
      id: "scores",
      title: { zh: "每个查询都会见每个键", en: "Every query meets every key" },
      body: [
        {
          zh: "$\\Q\\K^{\\top}$ 的一格就是一次点积：$\\Q$ 的第 $i$ 行对 $\\K$ 的第 $j$ 行；后者在这里竖了起来，成为 $\\K^{\\top}$ 的第 $j$ 列。两个向量又长又同向，分数就大；互相垂直，分数为零；背道而驰，分数为负。",
          en: "One cell of $\\Q\\K^{\\top}$ is one dot product: row $i$ of $\\Q$ with row $j$ of $\\K$, which stands upright here as column $j$ of $\\K^{\\top}$. The score is large when both vectors are long and point the same way, zero when they are at right angles, negative when they point apart.",
        },
        {
          zh: "把一行读作一个 token 对所有 token（包括它自己）的看法。到这里还没有做任何归一化。",
          en: "Read a row as one token’s opinion of all tokens, itself included. Nothing has been normalised yet.",
        },
      ],
      task: {
        zh: "找一个为零的分数，再转动造出它的两个向量之一，直到它不再是零。",
        en: "Find a score of zero, then turn one of the two vectors that made it until it is zero no more.",
      },
      formulae: [attention("scores")],
      strip: "plain",
      at: "scores",
    },
    {
      id: "scaled",
      title: { zh: "把分数缩小", en: "Scale the scores down" },
      body: [
        {
          zh: "点积把 $d_k$ 个乘积加在一起，向量越宽，它散得越开：各分量独立、方差为 1 时，$\\q\\cdot\\k$ 的方差是 $d_k$。除以 $\\sqrt{d_k}$，不论多宽，方差都回到 1。",
          en: "A dot product adds up $d_k$ products, so it spreads with the width of the vectors: for independent entries of variance 1, the variance of $\\q\\cdot\\k$ is $d_k$. Dividing by $\\sqrt{d_k}$ brings it back to 1 at any width.",
        },
        {
          zh: "同一行里谁大谁小不变，只是彼此靠近了。少了这一步，向量一宽，接下来的 softmax 就会饱和：几乎全部份量压在一个键上，几乎没有梯度传得回去。",
          en: "Within a row the order stays as it was; only the distances shrink. Without this step the softmax to come would saturate for wide vectors: nearly all the weight on one key, and hardly any gradient to learn from.",
        },
      ],
      formulae: [attention("scaled")],
      strip: "plain",
      at: "scaled",
    },
    {
      id: "row-max",
      title: { zh: "softmax 之一：每行的最大值", en: "Softmax, first: the largest of each row" },
      body: [
        {
          zh: "softmax 把一行分数变成一份份的占比。取指数之前，先记下这一行的最大值 $m_i$，待会儿从整行里减去。因子 $e^{-m_i}$ 在分数线上下同时出现，正好约掉：结果一点不变，指数却再也不会溢出。",
          en: "Softmax turns a row of scores into shares. Before any exponential is taken, the row’s largest score $m_i$ is noted, to be subtracted from the whole row. The factor $e^{-m_i}$ then stands both above and below the fraction line and cancels: the result is the same, and no exponential can overflow.",
        },
      ],
      formulae: [attention("softmax"), softmax("max")],
      strip: "plain",
      at: "softmax",
    },
    {
      id: "exp",
      title: { zh: "softmax 之二：取指数", en: "Softmax, second: exponentials" },
      body: [
        {
          zh: "减去最大值之后，指数都不超过 0，所以每一格都落在 0 与 1 之间，每行最大的分数恰好变成 1。分数之差在这里变成了比例：低 $\\ln 2$，份量就减半。",
          en: "With the maximum subtracted no exponent is above 0, so every cell lies between 0 and 1, and the largest score of a row becomes exactly 1. Differences have turned into ratios: a score lower by $\\ln 2$ will get half the share.",
        },
      ],
      formulae: [attention("softmax"), softmax("exp")],
      strip: "plain",
      at: "softmax",
    },
    {
      id: "row-sum",
      title: { zh: "softmax 之三：逐行求和", en: "Softmax, third: add up each row" },
      body: [
        {
          zh: "这一行的和，就是待会儿每个指数要除以的数。所有的键都在里面。请记住这一点，讲掩码时要用：谁进了这个和，谁就对这一行的每个权重都有发言权。",
          en: "The sum of a row is what each of its exponentials will be divided by. Every key is in it. Keep that in mind for the masks: whatever enters this sum has a say in every weight of the row.",
        },
      ],
      formulae: [attention("softmax"), softmax("sum")],
      strip: "plain",
      at: "softmax",
    },
    {
      id: "weights",
      title: { zh: "softmax 完成：每行分完一个 1", en: "Softmax, done: each row shares out 1" },
      body: [
        {
          zh: "指数除以行和，就是权重。它们都是正数，每行相加为 1：第 $i$ 行说的是 token $i$ 怎样分配它的注意力。标着 Σ 的那一列是核心把每行加起来的结果。",
          en: "Exponential over row sum: these are the weights. They are positive and each row adds up to 1: row $i$ says how token $i$ divides its attention. The column Σ is each row’s sum, as the core adds it up.",
        },
      ],
      task: {
        zh: "把一个查询的各个数放大许多倍，看它那一行怎样只剩一个赢家。",
        en: "Make one query many times longer and watch its row shrink to a single winner.",
      },
      formulae: [attention("softmax"), { id: "softmax", lit: ["exp", "sum"] }],
      strip: "plain",
      at: "softmax",
    },
    {
      id: "output",
      title: { zh: "把值调和起来", en: "Blend the values" },
      body: [
        {
          zh: "输出的第 $i$ 行，是所有值向量各乘以自己的权重再相加。这是一个加权平均，所以永远走不出这些值所围成的范围。",
          en: "Row $i$ of the output is the sum of all the value rows, each times its weight. It is a weighted mean, so it cannot leave the range that the values span.",
        },
        {
          zh: "每一行都是一个新的向量：仍属于 token $i$，却已经带上了它所看的那些 token 的内容。",
          en: "Each row is a new vector: still token $i$’s, but now with something of every token that it looked at.",
        },
      ],
      task: {
        zh: "把 $\\V$ 的一行改得很大，看哪些输出跟着走、走了多少。",
        en: "Make one row of $\\V$ very large. Which outputs follow, and how far?",
      },
      formulae: [attention("output")],
      strip: "plain",
      at: "output",
    },
  ],
  questions: formulaQuestions,
  seen: [
    {
      zh: "分数就是点积。缩放改变分数相隔多远，不改变它们的次序。",
      en: "A score is a dot product. Scaling changes how far scores lie apart, not their order.",
    },
    {
      zh: "softmax 把一行分数变成相加为 1 的占比；分数相同，占比就相同。",
      en: "Softmax turns a row of scores into shares of 1; equal scores get equal shares.",
    },
    {
      zh: "输出是值的加权平均。没有哪个词条被单独选中，每一条都按程度被读到，因此这次查找处处可微。",
      en: "An output is a weighted mean of the values. No single entry is picked, each is read to a degree, and that makes the lookup differentiable.",
    },
    {
      zh: "课程给出的小数，就是这些准确数字四舍五入的结果。",
      en: "The decimals that the chapter prints are these exact numbers, rounded.",
    },
  ],
} as const satisfies Lesson;
