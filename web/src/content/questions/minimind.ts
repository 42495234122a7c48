import type { Question } from "../question.ts";

export const minimindQuestions = [
  {
    id: "rows-reached",
    step: "x",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "五个 token，因果注意力。只改 token 1 的隐藏状态，输出里有几行会变？",
      en: "Five tokens, causal attention. Only token 1’s hidden state is changed. How many rows of the output change?",
    },
    why: {
      zh: "{rows} 行：它自己，和后面每一个看得见它的 token。逐个 token 做的 MLP 只会动 1 行。让一个 token 用上别的 token 的内容，就是注意力要解决的问题。",
      en: "{rows}: its own, and that of every later token, which can see it. An MLP, which works on each token alone, would move one. Letting a token use what others hold is the problem that attention solves.",
    },
  },
  {
    id: "values-doubled",
    step: "project",
    kind: "choice",
    ask: {
      zh: "把 `v_proj` 的权重全部加倍。注意力权重会怎样？",
      en: "All weights of `v_proj` are doubled. What happens to the attention weights?",
    },
    options: {
      sharper: { zh: "更尖锐", en: "They get sharper" },
      same: { zh: "一位不变", en: "Not a bit changes" },
      flatter: { zh: "更平", en: "They get flatter" },
    },
    why: {
      zh: "看谁由 $\\Q$ 和 $\\K$ 决定，拿什么由 $\\V$ 决定。分成三种角色，一个 token 才能以一副面孔被找到，交出的却是另一样东西。",
      en: "$\\Q$ and $\\K$ decide who is looked at, $\\V$ what is handed over. Three roles let a token be found by one thing and hand over another.",
    },
  },
  {
    id: "blended",
    step: "view",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "A、B、C、D 四个 token，因果。C 的新向量由几个值调和而成？",
      en: "Four tokens A, B, C, D, causal. Of how many values is C’s new vector a blend?",
    },
    why: {
      zh: "{seen} 个：A、B 和它自己。$\\q_C$ 同每个看得见的键比对，softmax 把分数变成份额，再按份额取值。",
      en: "{seen}: those of A, B and its own. $\\q_C$ is held against every key in sight, the softmax turns scores into shares, and the values are taken by these shares.",
    },
  },
  {
    id: "what-is-cached",
    step: "distance",
    kind: "choice",
    ask: {
      zh: "放进缓存的键，处在哪个阶段？",
      en: "At which stage do keys go into the cache?",
    },
    options: {
      projected: { zh: "刚投影完", en: "As projected" },
      normed: { zh: "归一化之后，旋转之前", en: "Normalised, not yet turned" },
      turned: { zh: "旋转之后，重复之前", en: "Turned, not yet repeated" },
      repeated: { zh: "重复之后", en: "Repeated" },
    },
    why: {
      zh: "旋转只看自己的位置，以后不会变，所以转好再存；重复出来的只是副本，所以不存。次序是：投影、分头、归一化、旋转、接上缓存、重复、打分、掩码、softmax、乘 $\\V$、合头、`o_proj`。",
      en: "A turn depends on the key’s own position and never changes, so it is done before storing; repeated heads are mere copies, so they are not stored. The order: project, cut, normalise, turn, append to the cache, repeat, score, mask, softmax, times $\\V$, merge, `o_proj`.",
    },
  },
  {
    id: "which-cell",
    step: "repeat",
    kind: "cell",
    size: 4,
    ask: {
      zh: "`scores` 的哪一格说的是：token 3 有多想看 token 1？",
      en: "Which cell of `scores` says how much token 3 wants to look at token 1?",
    },
    why: {
      zh: "行是发问的，列是被看的：一格就是那个查询同那个键的点积，还没有归一化。",
      en: "Rows ask, columns are looked at: a cell is the dot product of that query with that key, not yet normalised.",
    },
  },
  {
    id: "next-token",
    step: "scores",
    kind: "choice",
    ask: {
      zh: "训练时，位置 2 的输出要预测 token 3。去掉因果掩码，位置 2 的输出会随 token 3 变吗？",
      en: "In training, the output at position 2 is to predict token 3. Without the causal mask, does that output change with token 3?",
    },
    options: {
      no: { zh: "不会", en: "No" },
      yes: { zh: "会", en: "Yes" },
    },
    why: {
      zh: "会：答案就在输入里。损失照样下降，但模型学到的是抄，生成时无处可抄。有了掩码，这一行一位不变。",
      en: "Yes: the answer is in the input. The loss goes down, but what is learned is copying, and in generating there is nothing to copy. With the mask that row keeps every bit.",
    },
  },
  {
    id: "keys-instead",
    step: "weights",
    kind: "choice",
    ask: {
      zh: "两个 token 的键相同，值不同。如果权重乘的是 $\\K$ 而不是 $\\V$，输出还能反映它们的不同吗？",
      en: "Two tokens have the same key and different values. If the weights multiplied $\\K$ instead of $\\V$, could the output still tell them apart?",
    },
    options: {
      yes: { zh: "能，权重不同", en: "Yes, through the weights" },
      no: { zh: "不能", en: "No" },
    },
    why: {
      zh: "键相同，分数就相同，权重也相同（{first} 和 {second}）；再乘以相同的键，什么也分不出来。要交出去的内容只在 $\\V$ 里。",
      en: "Equal keys have equal scores and equal weights ({first} and {second}); multiplied with equal keys again, nothing tells them apart. What is to be handed over is in $\\V$ alone.",
    },
  },
  {
    id: "home-width",
    step: "values",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "`hidden_size` 是 16，有 2 个头，头维却是 32。合头后宽 64；`o_proj` 之后宽多少？",
      en: "`hidden_size` is 16, with 2 heads of head dim 32. Merged, they are 64 wide; how wide after `o_proj`?",
    },
    why: {
      zh: "{output}：从 {merged} 投回主干的宽度。输出要与残差相加，只有形状与 `x` 相同，加法才做得成，层才能一层层叠下去。",
      en: "{output}: back from {merged} to the width of the trunk. The output is added to the residual, which takes the shape of `x`, and only so can layer follow layer.",
    },
  },
  {
    id: "lab-b",
    step: "variables",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "实验 B：`hidden_size` 96，6 个查询头，3 个键值头。`k_proj(x)` 的最后一轴有多长？",
      en: "Lab B: `hidden_size` 96, 6 query heads, 3 key/value heads. How long is the last axis of `k_proj(x)`?",
    },
    why: {
      zh: "{width}：3 个头，每个宽 {headDim}。`repeat_kv` 之后，`xk` 才有 {heads} 个头。",
      en: "{width}: 3 heads, each {headDim} wide. Only after `repeat_kv` does `xk` have {heads} heads.",
    },
  },
] as const satisfies readonly Question[];
