import type { Lesson } from "./lesson.ts";
import { lookupQuestions } from "./questions/lookup.ts";
import { same, type Text } from "./text.ts";

const soft = (...lit: readonly ("scores" | "temperature" | "softmax" | "output")[]) =>
  ({ id: "softLookup", lit }) as const;
const additive = (...lit: readonly ("inputs" | "scores")[]) => ({ id: "additive", lit }) as const;

export const lookup = {
  id: "lookup",
  title: { zh: "软查找", en: "Soft lookup" },
  question: {
    zh: "注意力哪里像查字典，哪里又不像？",
    en: "In what way is attention a dictionary lookup, and in what way is it not?",
  },
  lede: {
    zh: "普通的字典只有两种结果：键对上了，给出值；对不上，什么也没有。注意力把这件事做得有程度：每个键都同查询比一比，越合拍，它的值在答案里占的份量越大。有一个数专管这个程度，拧到头，就又是普通的查找。",
    en: "An ordinary dictionary has two outcomes: the key fits and you get its value, or it does not and you get nothing. Attention does this by degrees. Every key is compared with the query, and the better it fits, the more of its value goes into the answer. One number governs the degree; turned all the way, the ordinary lookup is back.",
  },
  sources: [
    { text: { zh: "课程第 5 章 §1.1–1.4", en: "The course’s chapter 5, §1.1–1.4" } },
    { text: { zh: "MiniMind 第 11 课 §2", en: "MiniMind, lesson 11, §2" } },
    {
      text: { zh: "Bahdanau 等 2014", en: "Bahdanau et al. 2014" },
      url: "https://arxiv.org/abs/1409.0473",
    },
  ],
  parts: {
    dictionary: { zh: "一本小字典", en: "A small dictionary" },
    additive: { zh: "加性注意力", en: "Additive attention" },
    seq2seq: { zh: "翻译里的补丁", en: "A patch for translation" },
    one: { zh: "一个 token", en: "One token" },
  },
  steps: [
    {
      id: "hard",
      part: "dictionary",
      title: { zh: "最合拍的拿走全部", en: "The best match takes all" },
      body: [
        {
          zh: "四个词条，每条一个键 $\\k_j$、一个值 $\\v_j$。查询 $\\q$ 同每个键做一次点积，分数最高的词条胜出，答案就是它的值，其余的如同不存在。并列第一的平分。",
          en: "Four entries, each with a key $\\k_j$ and a value $\\v_j$. The query $\\q$ is held against every key by a dot product. The highest score wins and the answer is its value, as though the other entries were not there; those that tie for first place share.",
        },
      ],
      task: {
        zh: "把 $\\q$ 的第一个分量一点点加大，找出答案突然跳到另一个值的地方。",
        en: "Raise the first component of $\\q$ little by little until the answer jumps to another value.",
      },
      formulae: [{ id: "hardLookup", lit: ["scores", "softmax", "output"] }],
    },
    {
      id: "soft",
      part: "dictionary",
      title: { zh: "每一条都算数，各按程度", en: "Every entry counts, to a degree" },
      body: [
        {
          zh: "不再让最高的拿走全部，而是请 softmax 来分：分数先除以温度 $T$，再变成相加为 1 的权重 $\\w_j$，答案是所有的值各乘以自己的权重再相加。没有赢家，只有份量。",
          en: "Instead of giving all to the highest score, let softmax divide it. The scores are divided by a temperature $T$ and become weights $\\w_j$ that add up to 1; the answer is the sum of all values, each times its weight. There is no winner, only shares.",
        },
        {
          zh: "注意力用的就是这个式子，$\\sqrt{d_k}$ 站在 $T$ 的位置上。",
          en: "Attention is this formula, with $\\sqrt{d_k}$ in the place of $T$.",
        },
      ],
      task: {
        zh: "把温度拧到最低，答案应当与上一步相同。",
        en: "Turn the temperature all the way down: the answer should be that of the step before.",
      },
      formulae: [soft("scores", "temperature", "softmax", "output")],
    },
    {
      id: "temperature",
      part: "dictionary",
      title: { zh: "从硬到平", en: "From hard to flat" },
      body: [
        {
          zh: "同一个查询、同一些键，只转动温度。温度低，分数之差被放大，份量集中到一条，趋近硬查找；温度高，差别被抹平，四条各近四分之一，答案趋近所有值的平均。",
          en: "The same query and the same keys; only the temperature turns. When it is low, differences between scores are blown up and the weight gathers on one entry, as in the hard lookup. When it is high, they are levelled: each entry nears a quarter, and the answer nears the mean of all values.",
        },
      ],
      formulae: [soft("temperature")],
    },
    {
      id: "nudge",
      part: "dictionary",
      title: { zh: "轻推一下查询", en: "Nudge the query" },
      body: [
        {
          zh: "横轴是 $\\q$ 的第一个分量，纵轴是答案的第一个分量。硬查找是台阶：推一下，要么毫无反应，要么猛地一跳，从哪里都看不出该往哪边改。软查找是一条光滑的曲线，处处有斜率，学习靠的正是它。所谓可微分的查找，就是这个意思。",
          en: "The first component of $\\q$ runs along the bottom, the first component of the answer up the side. The hard lookup is a flight of steps: a nudge does nothing, or else too much, and from no point can you tell which way would be better. The soft lookup is a smooth curve with a slope everywhere, and learning lives on slopes. That is what is meant by a differentiable lookup.",
        },
      ],
      task: {
        zh: "降低温度，看曲线怎样一步步变成台阶。",
        en: "Lower the temperature and watch the curve turn into steps.",
      },
      formulae: [soft("scores", "output")],
    },
    {
      id: "additive",
      part: "additive",
      title: { zh: "另一种比法：先相加", en: "Another way to compare: add first" },
      body: [
        {
          zh: "注意力最初用于翻译时（Bahdanau 2014）不做点积。查询和键各过一个矩阵，相加，过一遍 $\\tanh$，再由向量 $v_a$ 收拢成一个分数。$W$、$U$、$b$、$v_a$ 都是学来的。",
          en: "When attention first came to translation (Bahdanau 2014), it took no dot product. Query and key each pass through a matrix; the results are added, put through $\\tanh$, and gathered into one score by a vector $v_a$. $W$, $U$, $b$ and $v_a$ are learned.",
        },
        {
          zh: "这里的参数是摆好的，不是学来的：两个背靠背的 $\\tanh$ 在 $W\\q$ 与 $U\\k$ 相抵处拱起一个包，每个分量一对。键离查询越近，分数越高。",
          en: "The parameters here were not learned but laid out: two $\\tanh$ back to back make a bump where $W\\q$ and $U\\k$ cancel, one pair for each component. The closer a key is to the query, the higher its score.",
        },
      ],
      formulae: [additive("inputs", "scores")],
    },
    {
      id: "additive-scores",
      part: "additive",
      title: { zh: "两种分数，同一个 softmax", en: "Two kinds of score, one softmax" },
      body: [
        {
          zh: "分数之后的事完全相同：softmax，再对值加权求和。不同的只是分数从哪里来。点积没有自己的参数，所有的配对一次矩阵乘法就算完；加性分数要对每一对、每个隐藏单元各算一次 $\\tanh$，写不成一次矩阵乘法。今天的模型用点积，主要原因就在这里。",
          en: "What follows the scores is the same: softmax, then the weighted sum of the values. Only the scores come about differently. A dot product has no parameters of its own, and one matrix product does all pairs. An additive score takes a $\\tanh$ for every pair and every hidden unit, which no single matrix product can do. That is the main reason why today’s models use the dot product.",
        },
      ],
      task: {
        zh: "把 $\\k_0$ 放大一倍：它的点积翻倍，加性分数却下降，因为它离查询更远了。",
        en: "Double $\\k_0$: its dot product doubles, its additive score falls, for it is now farther from the query.",
      },
      formulae: [additive("scores")],
    },
    {
      id: "bottleneck",
      part: "seq2seq",
      title: { zh: "整句话挤进一个向量", en: "A whole sentence in one vector" },
      body: [
        {
          zh: "早期的神经翻译模型有两个循环网络。编码器从头读到尾，每读一个词留下一个输出 $h_i$；解码器逐词写出译文，手里却只有最后那个 $h_2$。每一步拿到的都是同一个向量，句子再长，也得全挤在里面。",
          en: "Early neural translation models had two recurrent nets. The encoder reads from end to end and leaves an output $h_i$ after every word; the decoder writes the translation word by word, but all it is given is the last one, $h_2$. Every step gets the same vector, and however long the sentence is, it must all fit in.",
        },
        {
          zh: "这里的数是摆好的小例子，不是训练出来的网络。",
          en: "The numbers are a small example laid out by hand, not a trained network.",
        },
      ],
      task: {
        zh: "改动第一个词的输出 $h_0$：上下文里哪一行知道？",
        en: "Change $h_0$, the output after the first word. Which row of the contexts knows?",
      },
      formulae: [{ id: "fixedContext", lit: ["output"] }],
    },
    {
      id: "look-back",
      part: "seq2seq",
      title: { zh: "每一步都回头看", en: "Look back at every step" },
      body: [
        {
          zh: "Bahdanau 的补丁：写每个词之前，拿解码器的状态 $z_t$ 当查询，*所有*编码器输出既当键又当值，查一次软字典，得到这一步自己的上下文 $c_t$。写第一个词时看 I，写后三个词时都看 NLP。",
          en: "Bahdanau’s patch: before each word, the decoder’s state $z_t$ is the query, *all* encoder outputs are both keys and values, and one soft lookup gives this step a context $c_t$ of its own. For the first word it looks at I, for the last three at NLP.",
        },
        {
          zh: "循环网络还在，注意力只是帮手。2017 年的 Transformer 把循环网络整个拿掉，位置之间只靠这次查找相通：任意两个位置只隔一步。",
          en: "The recurrent nets are still there; attention only helps. The Transformer of 2017 took them out, and positions meet in this lookup alone: from any one to any other it is a single step.",
        },
      ],
      task: {
        zh: "把状态 $z_4$ 改成 (1, 0)，看最后一个词转而去看谁。",
        en: "Change the state $z_4$ to (1, 0). Where does the last word look now?",
      },
      formulae: [
        { id: "context", lit: ["output"] },
        { id: "contextWeights", lit: ["scores", "softmax"] },
      ],
    },
    {
      id: "one-token",
      part: "one",
      title: { zh: "C 的一次查找", en: "One lookup, by C" },
      body: [
        {
          zh: "把字典换成一句话：四个 token A B C D，轮到 C 来查。词条就是它看得见的 token：A、B 和它自己。D 在后面，分数加上 $-\\infty$，权重恰好是 0，它的值一点也进不来。",
          en: "Let the dictionary be a sentence: four tokens A B C D, and it is C’s turn to look. Its entries are the tokens that it may see: A, B and itself. D comes later, so its score gets $-\\infty$ added, its weight is exactly 0, and nothing of its value comes in.",
        },
        {
          zh: "C 的新向量，就是 A、B、C 的值按权重相加。下一课让所有 token 同时做这件事：这里的四个分数，遮住 D 之前，正是那里矩阵的第 2 行。",
          en: "C’s new vector is the sum of the values of A, B and C by weight. In the next lesson all tokens do so at once: the four scores here, before D is hidden, are row 2 of the matrix there.",
        },
      ],
      task: {
        zh: "把 D 的键和值改成任意大的数：C 的输出一位也不动。",
        en: "Give D any key and any value, however large: no digit of C’s output moves.",
      },
      formulae: [{ id: "oneToken", lit: ["scores", "mask", "output"] }],
    },
  ],
  questions: lookupQuestions,
  seen: [
    {
      zh: "注意力是有程度的查找：每个值都读到一点，份量由查询与键合拍的程度决定；温度管住这个程度，$T\\to0$ 就是硬查找。",
      en: "Attention is lookup by degrees: every value is read a little, and how much is decided by how well query and key fit. Temperature sets the degree; $T\\to0$ is the hard lookup.",
    },
    {
      zh: "软查找处处有斜率，硬查找几乎处处没有，所以前者能学。",
      en: "The soft lookup has a slope everywhere, the hard one almost nowhere; that is why the former can be learned.",
    },
    {
      zh: "加性注意力与点积注意力只差在分数；softmax 和加权求和是一样的。",
      en: "Additive and dot-product attention differ in the scores alone; the softmax and the weighted sum are the same.",
    },
    {
      zh: "有了注意力，解码的每一步有自己的上下文，整句话不必再挤进一个向量。",
      en: "With attention every decoding step has a context of its own, and a sentence need no longer fit into one vector.",
    },
  ],
  later: [
    {
      zh: "距离的代价：输出对最早的输入的梯度随距离怎样变化，循环网络与注意力画在一张图里。它需要反向传播，核心目前还没有。",
      en: "The price of distance: the gradient of the last output with respect to the first input, recurrent net and attention in one plot. It needs the backward pass, which the core does not have yet.",
    },
  ],
} as const satisfies Lesson;

/** Words of the lesson's figures and plots. */
export const lookupTerms = {
  temperature: { zh: "温度 $T$", en: "Temperature $T$" },
  weightsByTemperature: { zh: "四个权重随温度的变化", en: "The four weights against temperature" },
  weightOf: { zh: "词条 {j}", en: "entry {j}" },
  answerByQuery: { zh: "答案随查询的变化", en: "The answer against the query" },
  firstOfQuery: { zh: "$\\q$ 的第一个分量", en: "first component of $\\q$" },
  firstOfAnswer: { zh: "答案的第一个分量", en: "first component of the answer" },
  hardLookup: { zh: "硬查找", en: "hard lookup" },
  softLookup: { zh: "软查找，温度 $T$", en: "soft lookup at $T$" },
  yourQuery: { zh: "你的查询", en: "your query" },
  query: same(String.raw`$\q$`),
  entryScores: same(String.raw`$\q\cdot\k_j$`),
  tempered: same(String.raw`$\q\cdot\k_j/T$`),
  entryScaled: same(String.raw`$\q_C\cdot\k_j/\sqrt{d_k}$`),
  entryWeights: same(String.raw`$\w_j$`),
  answer: same("$o$"),
  addW: same("$W$"),
  addU: same("$U$"),
  addB: same("$b$"),
  addV: same("$v_a$"),
  addQuery: same(String.raw`$W\q+b$`),
  addKey: same(String.raw`$U\k_j$`),
  addScores: { zh: "加性 $s_j$", en: "additive $s_j$" },
  addWeights: { zh: "加性 $\\w_j$", en: "additive $\\w_j$" },
  dotWeights: { zh: "点积 $\\w_j$", en: "dot-product $\\w_j$" },
  encoder: { zh: "编码器输出 $h$", en: "Encoder outputs $h$" },
  decoder: { zh: "解码器状态 $z$", en: "Decoder states $z$" },
  fixedContexts: { zh: "每步拿到的 $c$", en: "What each step gets, $c$" },
  contexts: { zh: "上下文 $c$", en: "Contexts $c$" },
  lookWeights: { zh: "权重 $\\w_{ti}$", en: "Weights $\\w_{ti}$" },
  lookupQuery: { zh: "要找什么，分量 {j}", en: "what is looked for, component {j}" },
  best: { zh: "分数最高：拿走全部", en: "the highest score takes all" },
  tied: { zh: "并列最高：平分", en: "tied for the highest score: an equal share" },
  beaten: { zh: "不是最高：什么也没有", en: "not the highest: nothing" },
  encoderNote: { zh: "读完第 {i} 个词后的输出，分量 {j}", en: "output after word {i}, component {j}" },
  decoderNote: { zh: "写第 {i} 个词前的状态，分量 {j}", en: "state before word {i}, component {j}" },
  lastOutput: {
    zh: "就是最后一个编码器输出，每一步都一样",
    en: "the last encoder output, the same at every step",
  },
  unseen: { zh: "D 还没有到来", en: "D is yet to come" },
} as const satisfies Record<string, Text>;
