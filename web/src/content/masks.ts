import type { Lesson } from "./lesson.ts";
import { masksQuestions } from "./questions/masks.ts";

const masked = (...lit: readonly ("mask" | "softmax" | "output")[]) => ({ id: "masked", lit }) as const;
const row = (...lit: readonly ("mask" | "softmax")[]) => ({ id: "maskedRow", lit }) as const;

export const masks = {
  id: "masks",
  title: { zh: "掩码", en: "Masks" },
  question: {
    zh: "怎样不让一个 token 看它不该看的地方？",
    en: "How is a token kept from looking where it must not?",
  },
  lede: {
    zh: "有两种 token 不该被看：补位的，只是为了把一个批次补成一样长；后来的，语言模型本来就要去预测它们。遮住两者的办法相同：在 softmax *之前*，给它们的分数加上 $-\\infty$。",
    en: "Two kinds of token must not be looked at: padding, which only fills a batch up to one length, and tokens that come later, which a language model is there to predict. Both are hidden in the same way: $-\\infty$ is added to their scores, *before* the softmax.",
  },
  sources: [
    { text: { zh: "课程第 5 章 §3.1–3.3", en: "The course’s chapter 5, §3.1–3.3" } },
    {
      text: { zh: "Vaswani 等 2017，§3.2.3", en: "Vaswani et al. 2017, §3.2.3" },
      url: "https://arxiv.org/abs/1706.03762",
    },
  ],
  parts: {
    padding: { zh: "补位", en: "Padding" },
    causal: { zh: "因果", en: "Causal" },
    both: { zh: "两者同时", en: "Both at once" },
    wrong: { zh: "错误的顺序", en: "The wrong order" },
  },
  steps: [
    {
      id: "padding",
      part: "padding",
      title: { zh: "带补位的一行", en: "A row with padding" },
      body: [
        {
          zh: "一个查询，四个键，以及它们缩放后的分数。后两个键是补位。掩码用 1 标出可以看的键，用 0 标出不可以看的。",
          en: "One query, four keys, and their scaled scores. The last two keys are padding. The mask marks keys that may be looked at with 1 and those that may not with 0.",
        },
      ],
      task: {
        zh: "点击掩码的一格，或在格上按空格键，就能翻转它。",
        en: "Click a cell of the mask, or press Space on it, to turn it over.",
      },
      formulae: [row("mask")],
      strip: "masked",
      at: "mask",
    },
    {
      id: "padding-masked",
      part: "padding",
      title: { zh: "加上负无穷", en: "Add minus infinity" },
      body: [
        {
          zh: "换成一个加数，掩码就是：可看处为 0，不可看处为 $-\\infty$。任何有限的数加上 $-\\infty$ 都是 $-\\infty$，原来多大都一样。",
          en: "As something to add, the mask is 0 where looking is allowed and $-\\infty$ where it is not. Any finite number plus $-\\infty$ is $-\\infty$, however large it was.",
        },
        {
          zh: "像 $-10^{9}$ 这样很大的有限数只是一个强烈的偏置：真实分数再低一些，它就被翻过去了。",
          en: "A large finite number such as $-10^{9}$ would only be a strong bias: once the real scores lie lower still, the hidden key is back.",
        },
      ],
      formulae: [row("mask")],
      strip: "masked",
      at: "mask",
    },
    {
      id: "padding-exp",
      part: "padding",
      title: { zh: "负无穷变成什么", en: "What minus infinity becomes" },
      body: [
        {
          zh: "$e^{-\\infty}=0$：被遮住的键对行和的贡献不是很小，而是恰好为零。",
          en: "$e^{-\\infty}=0$: what a hidden key adds to the row sum is not small but exactly nothing.",
        },
      ],
      formulae: [row("softmax"), { id: "softmax", lit: ["exp", "sum"] }],
      strip: "masked",
      at: "softmax",
    },
    {
      id: "padding-weights",
      part: "padding",
      title: { zh: "剩下的键分完整个 1", en: "Those that are left share the whole" },
      body: [
        {
          zh: "看得见的键彼此分完整个 1，就像遮住的键从来没有存在过。",
          en: "The visible keys share out all of 1 among themselves, as though the hidden ones had never been there.",
        },
      ],
      task: {
        zh: "把一个被遮住的分数改成任意大的数：权重一位都不会变。",
        en: "Give a hidden key any score you like, however large: no digit of the weights will change.",
      },
      formulae: [row("softmax"), { id: "softmax", lit: ["exp", "sum"] }],
      strip: "masked",
      at: "softmax",
    },
    {
      id: "causal",
      part: "causal",
      title: { zh: "遮住未来", en: "Hide the future" },
      body: [
        {
          zh: "回到“公式”一课的四个 token。预测下一个 token 的模型只能用已经出现的内容：当 $j\\le i$ 时，查询 $i$ 才可以看键 $j$。允许的格子组成一个下三角。",
          en: "Back to the four tokens of the formula lesson. A model that predicts the next token may use only what has come so far: query $i$ may look at key $j$ when $j\\le i$. The permitted cells form a lower triangle.",
        },
      ],
      task: {
        zh: "掩码可以随手涂改。试着让 token 0 看见一个未来的键。",
        en: "Paint the mask as you like. Let token 0 see a key of the future.",
      },
      formulae: [masked("mask")],
      strip: "masked",
      at: "mask",
    },
    {
      id: "causal-weights",
      part: "causal",
      title: { zh: "三角形的权重", en: "Triangular weights" },
      body: [
        {
          zh: "有了下三角，第一行只剩一个键，于是它得到全部；往下每一行多一个键来分那个 1。对角线以上的零是恰好的零，每一行仍然相加为 1。",
          en: "Under the triangle the first row has one key left, which takes all; each row below shares its 1 with one key more. The zeros above the diagonal are exact, and every row still adds up to 1.",
        },
      ],
      formulae: [masked("softmax"), { id: "softmax", lit: ["exp", "sum"] }],
      strip: "masked",
      at: "softmax",
    },
    {
      id: "causal-output",
      part: "causal",
      title: { zh: "只知道过去的输出", en: "Outputs that know only the past" },
      body: [
        {
          zh: "输出的第 $i$ 行只调和看得见的值。被遮住的值不只是乘以零，核心根本不去读它：即使那里是 NaN，结果也一位不变。",
          en: "Row $i$ of the output blends only the values that it may see. A hidden value is not merely multiplied by zero, the core does not read it: with NaN in its place no bit of the result would change.",
        },
      ],
      formulae: [masked("output")],
      strip: "masked",
      at: "output",
    },
    {
      id: "both",
      part: "both",
      title: { zh: "两个掩码，一条规则", en: "Two masks, one rule" },
      body: [
        {
          zh: "训练时两者往往一起出现：批次里的序列要补位，而每条序列都是因果的。只有两个掩码都允许，一格才看得见：布尔掩码取 AND，加性掩码相加，两种做法是一回事。",
          en: "In training the two usually come together: sequences of a batch are padded, and each of them is causal. A cell is visible only where both masks allow it: AND for boolean masks, a sum for additive ones, which is the same thing.",
        },
      ],
      task: {
        zh: "把补位移到左边（遮住键 0）。哪一行再也没有键可看？",
        en: "Move the padding to the left: hide key 0. Which row has no key left?",
      },
      formulae: [masked("mask")],
      strip: "masked",
      at: "mask",
    },
    {
      id: "both-weights",
      part: "both",
      title: { zh: "两者一起生效", en: "Both in force" },
      body: [
        {
          zh: "合并后的掩码进入同一个 softmax。如果某一行一个键也不剩，照搬公式会得到 0 除以 0；核心约定这时权重为 0、输出为 0，而不是 NaN。",
          en: "The combined mask goes into the same softmax. Where a row has no key left, the bare formula would divide 0 by 0; the core’s convention is weights 0 and output 0, never NaN.",
        },
      ],
      formulae: [masked("softmax", "output")],
      strip: "masked",
      at: "softmax",
    },
    {
      id: "wrong-row",
      part: "wrong",
      title: { zh: "softmax 之后才掩", en: "Mask after softmax" },
      body: [
        {
          zh: "如果零是在 softmax 之后才填上的呢？被遮住的键早已在行和里占去一份；再把它们的权重划掉，剩下的就不足 1。",
          en: "Suppose the zeros are put in after the softmax. By then the hidden keys have taken their part of the row sum; striking out their weights leaves less than 1.",
        },
      ],
      task: {
        zh: "提高一个被遮住的分数：正确的一行不动，错误的一行却越漏越多。",
        en: "Raise the score of a hidden key: the right row stays, the wrong one loses more and more.",
      },
      formulae: [{ id: "wrongRow", lit: ["mask"] }],
      strip: "afterSoftmax",
      at: "mask",
    },
    {
      id: "wrong-rows",
      part: "wrong",
      title: { zh: "因果掩码也犯同样的错", en: "The same mistake, causal" },
      body: [
        {
          zh: "每一行少掉的，正是未来拿走的那一份；只有没有遮住任何键的行才是对的。",
          en: "Each row lacks exactly what the future took; only a row that hides nothing comes out right.",
        },
        {
          zh: "更糟的是：缺多少取决于未来的分数，所以未来仍然影响着结果。这是泄漏，“泄漏检查”一课会抓住它。",
          en: "Worse, how much is missing depends on the scores of the future, so the future still acts on the result. That is a leak, and the lesson on leaks catches it.",
        },
      ],
      formulae: [{ id: "wrongOrder", lit: ["mask"] }],
      strip: "afterSoftmax",
      at: "mask",
    },
  ],
  questions: masksQuestions,
  seen: [
    {
      zh: "在 softmax 之前加上 $-\\infty$，会让一个键的权重恰好为 0，其余的键分完整个 1。",
      en: "$-\\infty$ added before the softmax gives a key the weight 0 exactly, and the others share all of 1.",
    },
    {
      zh: "补位遮住整列，因果遮住上三角；两者合并就是 AND。",
      en: "Padding hides columns, causality hides the upper triangle; together they are an AND.",
    },
    {
      zh: "softmax 之后才掩，行和小于 1，而且分母已经看过了被遮住的键。",
      en: "Masked after the softmax, rows sum to less than 1, and the denominator has already seen the hidden keys.",
    },
  ],
} as const satisfies Lesson;
