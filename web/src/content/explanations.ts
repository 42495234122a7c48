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
  parameter: { zh: "参数", en: "parameter" },
  noKey: { zh: "这一行一个键也不剩：约定为 0", en: "this row has no key left: 0 by convention" },
  unmoved: { zh: "一位都没动", en: "not a bit moved" },
  moved: { zh: "动了；它在刀口之后，应该动", en: "moved; it lies after the cut, so it may" },
  was: { zh: "原来是", en: "was" },
  fromColumn: { zh: "就是第 {j} 列的那个数", en: "the very number of column {j}" },
  ofHead: { zh: "来自头 {h}，分量 {j}", en: "from head {h}, component {j}" },
} as const satisfies Record<string, Text>;
