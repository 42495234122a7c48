import type { Question } from "../question.ts";

export const lookupQuestions = [
  {
    id: "flat",
    step: "hard",
    kind: "number",
    tolerance: 0.001,
    ask: {
      zh: "软查找在极高的温度下，四个词条里的每一个分到多大的权重？",
      en: "In a soft lookup at a very high temperature, which weight does each of four entries get?",
    },
    why: {
      zh: "所有的分数除以一个极大的数，都成了几乎相同的数，相同的分数分得相同的一份：在 $T=100$ 时最小的一份是 {least}，最大的是 {most}。",
      en: "Divided by a very large number all scores become nearly the same, and equal scores get equal shares: at $T=100$ the smallest is {least}, the largest {most}.",
    },
  },
  {
    id: "hair",
    step: "temperature",
    kind: "choice",
    ask: {
      zh: "把查询只挪动 0.001。*硬*查找的答案最多会变多少？",
      en: "The query moves by no more than 0.001. How much can the answer of the *hard* lookup change at most?",
    },
    options: {
      little: { zh: "也只变一点点", en: "By as little" },
      never: { zh: "不会变", en: "Not at all" },
      jump: { zh: "整个换成另一个值", en: "It can become another value altogether" },
    },
    why: {
      zh: "在两个键恰好并列的地方，一挪就换了赢家：核心在那里挪 0.001，硬查找的答案动了 {hard}，软查找（$T=1$）只动了 {soft}。",
      en: "Where two keys are just level, the slightest move makes another winner: moving by 0.001 there, the core finds the hard answer moved by {hard}, the soft one (at $T=1$) by {soft}.",
    },
  },
  {
    id: "c-sees",
    step: "look-back",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "四个 token A B C D，从左到右预测下一个。位置 2 的 C 可以看几个 token？",
      en: "Four tokens A B C D, predicted from left to right. How many of them may C, at position 2, look at?",
    },
    why: {
      zh: "A、B 和它自己：{count} 个。因果掩码的第 2 行正是这样。",
      en: "A, B and itself: {count}. That is row 2 of the causal mask.",
    },
  },
  {
    id: "without-mask",
    step: "one-token",
    kind: "choice",
    ask: {
      zh: "去掉掩码，再改动 D 的值。C 的输出会动吗？",
      en: "Take the mask away and change D’s value. Does C’s output move?",
    },
    options: {
      moves: { zh: "会动", en: "It moves" },
      still: { zh: "不动", en: "It stays" },
    },
    why: {
      zh: "没有掩码时动了 {open}，有掩码时动了 {masked}。训练时要从 C 预测的下一个 token 恰好是 D：让 C 看见 D，就是把答案放在题目旁边，损失再低也什么都没学到。",
      en: "Without the mask it moved by {open}, with it by {masked}. What training asks of C is to predict the next token, which is D: letting C see D lays the answer beside the question, and however low the loss, nothing has been learned.",
    },
  },
] as const satisfies readonly Question[];
