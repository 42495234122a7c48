import type { CandidateName } from "./faults.ts";
import type { Lesson } from "./lesson.ts";
import { leakQuestions } from "./questions/leak.ts";
import { same, type Text } from "./text.ts";

const causality = (...lit: readonly ("past" | "future")[]) => ({ id: "causality", lit }) as const;

export const leak = {
  id: "leak",
  title: { zh: "泄漏检查", en: "The leak check" },
  question: {
    zh: "怎样确认没有一个输出看过未\u2060来？",
    en: "How can you tell that no output has seen the future?",
  },
  lede: {
    zh: "不靠读代码，靠试。把某个位置之后的 token 全部换掉，再跑一遍，比较这个位置以及之前的输出：只要动了一位，未来就漏了进来。凡是同样的输入总给出同样输出的函数，都可以这样查，不必知道它里面是怎么写的。",
    en: "Not by reading the code: by trying. Replace every token after some position, run again, and compare the outputs up to that position. If a single bit has moved, the future got in. This works for any function that gives the same output for the same input, whatever is inside it.",
  },
  sources: [
    {
      text: { zh: "课程第 5 章 §3.2、§6（脚本 04）", en: "The course’s chapter 5, §3.2 and §6 (script 04)" },
    },
    {
      text: { zh: "Vaswani 等 2017，§3.2.3", en: "Vaswani et al. 2017, §3.2.3" },
      url: "https://arxiv.org/abs/1706.03762",
    },
  ],
  steps: [
    {
      id: "tokens",
      title: { zh: "一个用来试的序列", en: "A sequence to test with" },
      body: [
        {
          zh: "$n$ 个 token，各是一行标准正态的随机数，没有哪一个特别。为了只看注意力本身，这里令 $\\Q=\\K=\\V=X$；投影对每个 token 单独起作用，不会把内容从一个 token 带到另一个。",
          en: "$n$ tokens, each a row of standard normal numbers, none of them special. To look at attention alone, $\\Q=\\K=\\V=X$ here; projections act on each token by itself and carry nothing from one to another.",
        },
      ],
      task: {
        zh: "长度、头维和种子都可以改；同一个种子在任何机器上都给出同样的数。",
        en: "Choose a length, a head dimension and a seed; the same seed gives the same numbers on every machine.",
      },
      formulae: [causality("past", "future")],
      strip: "masked",
      at: undefined,
    },
    {
      id: "replace",
      title: { zh: "换掉未来", en: "Replace the future" },
      body: [
        {
          zh: "在位置 $t$ 之后切一刀。$t$ 和它之前的 token 原样保留，之后的换成别的数 $r_{t+1},\\dots$，得到 $R$。问题只有一个：输出 $0\\dots t$ 会不会动？",
          en: "Cut after position $t$. Tokens up to $t$ stay; those after it become other numbers $r_{t+1},\\dots$, which gives $R$. There is one question: do the outputs $0\\dots t$ move?",
        },
      ],
      task: {
        zh: "移动刀口，或者自己填写换上的数。",
        en: "Move the cut, or type the replacements yourself.",
      },
      formulae: [causality("future")],
      strip: "masked",
      at: "inputs",
    },
    {
      id: "causal",
      title: { zh: "正确的：过去纹丝不动", en: "The right one: the past stands still" },
      body: [
        {
          zh: "因果掩码在 softmax 之前。刀口以上的输出逐位相同；刀口以下的输出动了，这是应该的，因为换掉的正是它们自己的现在或过去。",
          en: "The causal mask comes before the softmax. Above the cut the outputs agree to the last bit. Below it they moved, as they should: what was replaced is their own present or past.",
        },
      ],
      formulae: [causality("past")],
      strip: "masked",
      at: "mask",
    },
    {
      id: "no-mask",
      title: { zh: "没有掩码：抓住了", en: "No mask: caught" },
      body: [
        {
          zh: "每一行权重都伸到对角线右边，输出里直接混进了换掉的 token。所以刀口以上也动了：这就是泄漏。",
          en: "Every row of weights reaches to the right of the diagonal, so replaced tokens are blended straight into every output. Outputs above the cut moved too: that is a leak.",
        },
      ],
      formulae: [causality("past")],
      strip: "unmasked",
      at: "mask",
    },
    {
      id: "after-softmax",
      title: { zh: "softmax 之后才掩：抓住了", en: "Mask after softmax: caught" },
      body: [
        {
          zh: "这一个更隐蔽。对角线右边的权重确实是零，权重矩阵看上去是因果的。可是零来得太晚：分母里的行和是对*所有*键求的。换掉未来，行和就变；行和一变，留下来的权重跟着变。",
          en: "This one hides better. The weights right of the diagonal are zero indeed, and their matrix looks causal. But the zeros came too late: the row sum in the denominator was taken over *all* keys. Replace the future and the row sums change, and with them the weights that were kept.",
        },
      ],
      task: {
        zh: "指向一个动了的权重，看它的分母。",
        en: "Point at a weight that moved and look at its denominator.",
      },
      formulae: [causality("past")],
      strip: "afterSoftmax",
      at: "mask",
    },
    {
      id: "check",
      title: { zh: "每一刀，许多种替换", en: "Every cut, many replacements" },
      body: [
        {
          zh: "一次试验没有动静，说明不了什么。`checkCausality` 试遍每一个刀口，并用随机数、极大的数、打乱次序和 NaN 来替换；它还逐个换掉单个 token，记下每个输出最多动了多少。",
          en: "One quiet experiment proves little. `checkCausality` tries every cut, and replaces by random numbers, by very large ones, by a shuffle and by NaN; it also replaces one token at a time and notes how far each output moved at most.",
        },
        {
          zh: "影响矩阵的行是被换的 token $j$，列是输出 $i$。因果的函数在 $i<j$ 处全是零：对角线左下方没有任何动静。",
          en: "Rows of the influence matrix are the replaced token $j$, columns the output $i$. For a causal function it is zero wherever $i<j$: nothing stirs below the diagonal.",
        },
      ],
      formulae: [causality("past", "future")],
      strip: "masked",
      at: undefined,
    },
    {
      id: "gallery",
      title: { zh: "一个个错误，排成一列", en: "Every fault in a row" },
      body: [
        {
          zh: "下面每一个都是真实代码里会犯的错，每一个都在同一条序列上走完整套检查：改了什么，哪里动了，为什么。小图就是影响矩阵，行是被换掉的 token，列是输出；左下方亮起来的格子就是泄漏。",
          en: "Each of these is a mistake that real code makes, and each goes through the whole check on the same sequence: what was changed, what moved, and why. The small picture is the influence matrix, replaced tokens down the side and outputs along the top; a cell lit below the diagonal is a leak.",
        },
      ],
      task: {
        zh: "把长度改成 4 或 8，看哪些错误在短序列里藏得住。",
        en: "Set the length to 4, then to 8. Which faults stay hidden in a short sequence?",
      },
      formulae: [causality("past", "future")],
      strip: "masked",
      at: undefined,
    },
    {
      id: "others",
      title: { zh: "把一个看仔细", en: "One of them, closely" },
      body: [
        {
          zh: "选一个错误，先猜影响矩阵在哪里亮起来，再看它的数字和每一条泄漏。",
          en: "Choose a fault and guess where its influence matrix will light up. Then look at its numbers, and at every leak.",
        },
      ],
      formulae: [causality("past", "future")],
      strip: "masked",
      at: undefined,
    },
  ],
  questions: leakQuestions,
  seen: [
    {
      zh: "因果是一条可以检验的性质：换掉未来，过去的输出一位都不许动。",
      en: "Causality is a property that can be tested: replace the future, and no bit of the past may move.",
    },
    {
      zh: "没有掩码会从权重漏，softmax 之后才掩会从分母漏；两者都被抓住。",
      en: "Without a mask the weights leak; with the mask after the softmax the denominator does. Both were caught.",
    },
    {
      zh: "只试一刀、只换一种，抓不全：有的错误要极大的数、特定的刀口或特定的头才会现形。",
      en: "One cut and one replacement are not enough: some faults show only under very large numbers, at certain cuts or in a certain head.",
    },
    {
      zh: "检查只回答“有没有看未来”。没有泄漏的函数仍然可能在别处是错的。",
      en: "The check answers one question, whether the future was seen. A function that does not leak may still be wrong elsewhere.",
    },
  ],
} as const satisfies Lesson;

interface Candidate {
  name: Text;
  why: Text;
}

/** What each candidate is, and what the check makes of it. */
export const candidates = {
  causal: {
    name: { zh: "正确的因果注意力", en: "Right causal attention" },
    why: {
      zh: "$-\\infty$ 在 softmax 之前加上，未来既不进分子，也不进分母。",
      en: "$-\\infty$ goes in before the softmax: the future enters neither numerator nor denominator.",
    },
  },
  "no-mask": {
    name: { zh: "没有掩码", en: "No mask" },
    why: {
      zh: "每个输出都调和所有的值，包括未来的。",
      en: "Every output blends all values, those of the future too.",
    },
  },
  "mask-after-softmax": {
    name: { zh: "softmax 之后才掩", en: "Mask after softmax" },
    why: {
      zh: "未来的权重是零，未来的分数却还留在分母里。",
      en: "The future’s weights are zero, yet its scores are still in the denominator.",
    },
  },
  "diagonal-plus-one": {
    name: { zh: "对角线偏了 +1", en: "Diagonal shifted by +1" },
    why: {
      zh: "每个 token 恰好多看了一个未来的 token：只在紧贴对角线的一条线上泄漏。训练时这正是要预测的那个。",
      en: "Each token sees exactly one token too many, so only the line next to the diagonal lights up. In training that is the very token to be predicted.",
    },
  },
  "diagonal-minus-one": {
    name: { zh: "对角线偏了 −1", en: "Diagonal shifted by −1" },
    why: {
      zh: "没有泄漏，但也不对：对角线上是零，每个 token 都看不见自己，token 0 什么也看不见。泄漏检查只找泄漏。",
      en: "It does not leak, and is wrong all the same: the diagonal is zero, no token sees itself, and token 0 sees nothing. A leak check finds leaks only.",
    },
  },
  "transposed-mask": {
    name: { zh: "行列对调的掩码", en: "Rows and columns swapped" },
    why: {
      zh: "掩码转了置：遮住的是过去，看见的是未来。",
      en: "The mask is transposed: the past is hidden and the future seen.",
    },
  },
  "finite-sentinel": {
    name: { zh: "用 −10000 冒充 −∞", en: "−10000 in place of −∞" },
    why: {
      zh: "普通大小的数一切正常；只有换成极大的数，真实分数落到 −10000 以下，被遮住的键才翻身。",
      en: "With numbers of ordinary size all looks well. Only very large ones push the real scores past −10000, and then the hidden key wins.",
    },
  },
  "block-leak": {
    name: { zh: "只在块内泄漏", en: "A leak inside a block" },
    why: {
      zh: "掩码按 4 个 token 一块来算：块与块之间是因果的，块内却敞开。恰好切在块边界上的刀口看不到它。",
      en: "The mask works in blocks of 4 tokens: causal from block to block, open inside one. A cut on the edge of a block sees nothing.",
    },
  },
  "tile-leak": {
    name: { zh: "只在块外泄漏", en: "A leak beyond a tile" },
    why: {
      zh: "键按 4 个一块来算：对角线所在的块掩对了，更靠后的块却忘了跳过。不超过一块的短序列看不到它。",
      en: "The keys come in tiles of 4: the tile on the diagonal is masked, those after it are not skipped. A sequence of one tile never shows it.",
    },
  },
  "cache-drops-mask": {
    name: { zh: "有了缓存就不掩", en: "No mask once there is a cache" },
    why: {
      zh: "序列每 4 个 token 一批送进缓存：第一批掩对了，之后缓存里有了东西，掩码就丢了。逐个解码时一切正常，因为一个 token 没有未来可看。",
      en: "The sequence goes into a cache in chunks of 4 tokens: the first is masked, and as soon as the cache holds something the mask is gone. Decoding token by token looks well, since a chunk of one has no future.",
    },
  },
  "chunk-ignores-past": {
    name: { zh: "分批时忘了过去", en: "A chunk masked as if it had no past" },
    why: {
      zh: "序列每 4 个 token 一批送进缓存，三角形掩码却盖在最老的 4 个键上，好像缓存是空的：过去被遮住一部分，这一批自己的键全敞开。",
      en: "The sequence comes in chunks of 4, but the triangle of each lies over the 4 oldest keys, as if the cache were empty: part of the past is hidden, and the chunk’s own keys are all open.",
    },
  },
  "sequence-mean": {
    name: { zh: "减去整个序列的均值", en: "The mean of the sequence" },
    why: {
      zh: "注意力是对的，可是之后减去了整个序列的均值，每个输出由此都见过每个 token。",
      en: "The attention is right, but the mean over the sequence is subtracted afterwards, and through it every output has seen every token.",
    },
  },
  "one-head-unmasked": {
    name: { zh: "一个头没有掩码", en: "One head without a mask" },
    why: {
      zh: "两个头里只有最后一个漏掉了掩码：一半的数字看起来完全正常。",
      en: "Of two heads only the last has no mask: half of the numbers look perfectly well.",
    },
  },
  "one-batch-row-unmasked": {
    name: { zh: "批次里一行没有掩码", en: "One batch row without a mask" },
    why: {
      zh: "批次里有两个序列，只有最后一个没有掩码。只检查第一个序列的测试会放它过去。",
      en: "Of two sequences in a batch only the last has no mask. A test that looks at the first alone lets it pass.",
    },
  },
} as const satisfies Record<CandidateName, Candidate>;

/** Words of the lesson's figures and reports. */
export const leakTerms = {
  cut: { zh: "在 $t$ 之后切", en: "Cut after $t$" },
  fault: { zh: "错误", en: "Fault" },
  noneMoved: { zh: "输出 0…{cut}：一位都没动", en: "Outputs 0…{cut}: not a bit moved" },
  someMoved: { zh: "输出 0…{cut} 中动了的：{positions}", en: "Of outputs 0…{cut} these moved: {positions}" },
  causal: { zh: "因果", en: "causal" },
  leak: { zh: "泄漏", en: "leak" },
  poisoned: { zh: "仅 NaN 污染", en: "NaN poisoning only" },
  firstCut: { zh: "首个泄漏的刀口", en: "First cut that leaks" },
  leakCount: { zh: "泄漏次数", en: "Leaks found" },
  blind: { zh: "看不见自己的位置", en: "Blind to their own token" },
  calls: { zh: "函数调用次数", en: "Calls of the function" },
  leaks: { zh: "逐条列出", en: "One by one" },
  cutColumn: { zh: "刀口", en: "cut" },
  modeColumn: { zh: "替换", en: "replacement" },
  positionsColumn: { zh: "动了的输出", en: "outputs moved" },
  sizeColumn: { zh: "最多动了", en: "by up to" },
  modeRandom: { zh: "随机数 ×{magnitude}", en: "random × {magnitude}" },
  modeLarge: { zh: "加上 {magnitude}", en: "plus {magnitude}" },
  modePermuted: { zh: "打乱次序", en: "shuffled" },
  modeNan: { zh: "NaN", en: "NaN" },
  changed: { zh: "改了什么", en: "Changed" },
  movedOutputs: { zh: "动了什么", en: "Moved" },
  movedFrom: {
    zh: "从刀口 {cut} 起，共查出 {count} 次泄漏",
    en: "from cut {cut} on; {count} leaks found",
  },
  why: { zh: "为什么", en: "Why" },
  lookCloser: { zh: "看仔细", en: "Look closer" },
  pictureClean: { zh: "影响矩阵：对角线左下方没有动静", en: "Influence matrix: nothing below the diagonal" },
  pictureLeaks: {
    zh: "影响矩阵：泄漏（被换的 token → 动了的输出）{pairs}",
    en: "Influence matrix: leaks (token replaced → output moved) {pairs}",
  },
  replaced: same("$R$"),
  rowSumBefore: { zh: "行和，由 $X$", en: "Row sum from $X$" },
  rowSumAfter: { zh: "行和，由 $R$", en: "Row sum from $R$" },
  weightsBefore: { zh: "权重，由 $X$", en: "Weights from $X$" },
  weightsAfter: { zh: "权重，由 $R$", en: "Weights from $R$" },
  outputBefore: { zh: "输出，由 $X$", en: "Output from $X$" },
  outputAfter: { zh: "输出，由 $R$", en: "Output from $R$" },
  influence: { zh: "影响矩阵", en: "Influence" },
  kept: { zh: "刀口之前，原样保留", en: "before the cut, kept as it was" },
  swapped: { zh: "刀口之后，已换掉", en: "after the cut, replaced" },
  leaked: { zh: "动了，却在刀口之前：泄漏", en: "moved, though before the cut: a leak" },
  influenceNone: {
    zh: "换掉 token {j}，输出 {i} 一位都没动",
    en: "token {j} replaced: not a bit of output {i} moved",
  },
  influenceFair: {
    zh: "换掉 token {j}，以它为现在或过去的输出 {i} 最多动了",
    en: "token {j} replaced: output {i}, for which it is present or past, moved by up to",
  },
  influenceLeak: {
    zh: "换掉未来的 token {j}，输出 {i} 却最多动了",
    en: "token {j}, still in the future, replaced: output {i} moved by up to",
  },
} as const satisfies Record<string, Text>;
