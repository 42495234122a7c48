import type { Question } from "../question.ts";

export const headsQuestions = [
  {
    id: "own-columns",
    step: "mix",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "$d=8$、$H=4$。把一个头清零，先不经过 $W^O$。并排的结果里有几列会变？",
      en: "$d=8$ and $H=4$. One head is silenced, and $W^O$ is left out for now. How many columns of the merged result change?",
    },
    why: {
      zh: "只有它自己的 {own} 列。各头只是并排放着，谁也没见过谁；经过 $W^O$ 之后是 {all} 列：末尾这个矩阵让网络自己决定怎样融合各头。",
      en: "Only its own {own}. Heads merely stand side by side and have not met; after $W^O$ it is {all}: that last matrix lets the network decide how the heads are blended.",
    },
  },
  {
    id: "unnoticed",
    step: "loop",
    kind: "choice",
    ask: {
      zh: "合头时忘了换轴，直接摊平成 $(n,d)$。会怎样？",
      en: "The axes are not swapped before the heads are flattened to $(n,d)$. What happens?",
    },
    options: {
      error: { zh: "报错，大小对不上", en: "An error: the sizes do not match" },
      shape: { zh: "输出的形状不对", en: "The output has a wrong shape" },
      numbers: { zh: "形状都对，数字错了", en: "All shapes are right, the numbers are wrong" },
    },
    why: {
      zh: "数字一个不多一个不少，所以谁也不会报错；{count} 个数里有 {wrong} 个坐错了位置。",
      en: "There are exactly as many numbers as there should be, so nothing complains; {wrong} of {count} sit in the wrong place.",
    },
  },
  {
    id: "head-width",
    step: "view",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "GPT-2 取 $d=768$、$H=12$。每个头有多宽？",
      en: "GPT-2 has $d=768$ and $H=12$. How wide is each head?",
    },
    why: {
      zh: "{width}，和原论文的 $(512,8)$ 一样宽。取 8、16、32 个头，每个头宽 {w8}、{w16}、{w32}：头越多，能同时看的关系越多；头越窄，每一种看得越粗。",
      en: "{width}, as wide as in $(512,8)$ of the paper. With 8, 16 or 32 heads they would be {w8}, {w16} or {w32} wide: more heads follow more relations at once, narrower ones tell keys apart less finely.",
    },
  },
  {
    id: "which-is-larger",
    step: "shapes",
    kind: "choice",
    ask: {
      zh: "$d=512$。8 个头和 64 个头，哪一层的参数多？",
      en: "$d=512$. Which layer has more parameters, the one with 8 heads or the one with 64?",
    },
    options: {
      few: { zh: "8 个头", en: "With 8 heads" },
      many: { zh: "64 个头", en: "With 64 heads" },
      same: { zh: "一样多", en: "Neither" },
    },
    why: {
      zh: "两层分别有 {eight} 个和 {sixtyFour} 个：四个 $d\\times d$ 的矩阵，$H$ 只决定切成几段。",
      en: "They have {eight} and {sixtyFour}: four matrices of $d\\times d$, and $H$ only says into how many pieces they are cut.",
    },
  },
] as const satisfies readonly Question[];
