import { same, type Text } from "./text.ts";

/** The words that go with the arithmetic of a cell. */
export const explanations = {
  query: { zh: "token {i} 在找什么，分量 {j}", en: "what token {i} is looking for, component {j}" },
  key: { zh: "凭什么找到 token {i}，分量 {j}", en: "what token {i} can be found by, component {j}" },
  value: { zh: "token {i} 交出什么，分量 {j}", en: "what token {i} hands over, component {j}" },
  root: same(String.raw`$\sqrt{2}$`),
  score: { zh: "键 {j} 的分数", en: "score of key {j}" },
  token: { zh: "token {i}，分量 {j}", en: "token {i}, component {j}" },
  visible: { zh: "查询 {i} 可以看键 {j}", en: "query {i} may look at key {j}" },
  hidden: { zh: "查询 {i} 不可以看键 {j}", en: "query {i} may not look at key {j}" },
  realKey: { zh: "键 {j} 是真实的 token", en: "key {j} is a real token" },
  paddedKey: { zh: "键 {j} 是补位", en: "key {j} is padding" },
  noKey: { zh: "这一行一个键也不剩：约定为 0", en: "this row has no key left: 0 by convention" },
  kept: { zh: "刀口之前，原样保留", en: "before the cut, kept as it was" },
  swapped: { zh: "刀口之后，已换掉", en: "after the cut, replaced" },
  unmoved: { zh: "一位都没动", en: "not a bit moved" },
  moved: { zh: "动了；它在刀口之后，应该动", en: "moved; it lies after the cut, so it may" },
  leaked: { zh: "动了，却在刀口之前：泄漏", en: "moved, though before the cut: a leak" },
  was: { zh: "原来是", en: "was" },
  drawnWeight: { zh: "随机抽取，再除以宽度的平方根", en: "drawn, then divided by the root of the width" },
  goesToHead: { zh: "归头 {h}，成为它的分量 {j}", en: "goes to head {h}, as its component {j}" },
  fromColumn: { zh: "就是第 {j} 列的那个数", en: "the very number of column {j}" },
  ofHead: { zh: "来自头 {h}，分量 {j}", en: "from head {h}, component {j}" },
  comesFrom: { zh: "是头 {h} 给 token {i} 的；", en: "is what head {h} made for token {i};" },
  belongsHere: { zh: "这里该是头 {h} 给 token {i} 的", en: "here belongs what head {h} made for token {i}," },
  influenceNone: {
    zh: "换掉 token {j}，输出 {i} 一位都没动",
    en: "token {j} replaced: not a bit of output {i} moved",
  },
  influenceFair: {
    zh: "换掉 token {j}，输出 {i} 最多动了（这是它的现在或过去）",
    en: "token {j} replaced: output {i}, for which it is present or past, moved by up to",
  },
  influenceLeak: {
    zh: "换掉未来的 token {j}，输出 {i} 却最多动了",
    en: "token {j}, still in the future, replaced: output {i} moved by up to",
  },
} as const satisfies Record<string, Text>;
