import type { Question } from "../question.ts";

export const leakQuestions = [
  {
    id: "late-zeros",
    step: "no-mask",
    kind: "choice",
    ask: {
      zh: "下一个函数在 softmax 之后把未来的权重改成零。换掉未来，刀口以上的输出会动吗？",
      en: "The next function sets the weights of the future to zero after the softmax. Will outputs above the cut move when the future is replaced?",
    },
    options: {
      still: { zh: "不会：未来的权重是零", en: "No: the future’s weights are zero" },
      move: { zh: "会", en: "Yes" },
    },
    why: {
      zh: "权重虽是零，分母里却还有未来的分数。刀口以上有 {moved} 个输出动了。",
      en: "The weights are zero, but the future’s scores are still in the denominator. Above the cut, {moved} outputs moved.",
    },
  },
  {
    id: "one-cut",
    step: "after-softmax",
    kind: "choice",
    ask: {
      zh: "有个掩码以 4 个 token 为一块：块与块之间是因果的，块内却敞开。序列有 8 个 token，只在 $t=3$ 之后切一刀。能抓住它吗？",
      en: "A mask works in blocks of 4 tokens: causal from block to block, open inside one. Of 8 tokens, those after $t=3$ are replaced, and nothing else is tried. Is it caught?",
    },
    options: {
      caught: { zh: "能", en: "Yes" },
      missed: { zh: "不能", en: "No" },
    },
    why: {
      zh: "这一刀正好落在块的边界上：它左边的块完整，看不见右边。试遍每个刀口，才发现 {cuts} 个刀口会漏。",
      en: "That cut falls on the edge of a block, and the block on its left never sees past the edge. Only trying every cut shows that {cuts} of them leak.",
    },
  },
  {
    id: "shifted",
    step: "check",
    kind: "cell",
    size: 4,
    ask: {
      zh: "对角线偏了 +1，四个 token。查询 2 多看了哪一格？",
      en: "The diagonal is shifted by +1, over four tokens. Which cell does query 2 see that it must not?",
    },
    why: {
      zh: "它恰好多看了下一个 token。训练语言模型时，那正是它要预测的答案：损失会降得很快，模型却什么也没学会，因为生成时没有答案可抄。",
      en: "Exactly the token that comes next. When a language model is trained, that is the answer it is asked for: the loss falls quickly, and nothing has been learned, since in generating there is no answer to copy.",
    },
  },
] as const satisfies readonly Question[];
