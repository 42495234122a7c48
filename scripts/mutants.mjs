// Deliberate breaks of the core, one line each. Every one of them was somebody's bug, and none may pass the
// C++ tests. `find` occurs exactly once in its file.

export default [
  // the mask and softmax
  {
    name: "mask after softmax",
    file: "src/softmax.cpp",
    find: "  apply_mask(scores, rule);",
    replace:
      "  Tensor4 open = scores; softmax(open, nullptr); apply_mask(scores, rule); for (std::size_t i = 0; i < open.size(); ++i) scores.data()[i] = std::isinf(scores.data()[i]) ? 0.0F : open.data()[i]; return;",
  },
  {
    name: "softmax without the maximum subtracted",
    file: "src/softmax.cpp",
    find: "(max == kHidden ? 0.0 : static_cast<double>(max))",
    replace: "(max == kHidden ? 0.0 : 0.0)",
  },
  {
    name: "the running maximum starts at 0",
    file: "src/softmax.cpp",
    find: "    float largest = kHidden;",
    replace: "    float largest = 0.0F;",
  },
  {
    name: "the running maximum starts at -1e9",
    file: "src/softmax.cpp",
    find: "    float largest = kHidden;",
    replace: "    float largest = -1e9F;",
  },
  {
    name: "the running maximum starts at the lowest float",
    file: "src/softmax.cpp",
    find: "    float largest = kHidden;",
    replace: "    float largest = std::numeric_limits<float>::lowest();",
  },
  {
    name: "a row without a key: -Infinity minus -Infinity",
    file: "src/softmax.cpp",
    find: "(max == kHidden ? 0.0 : static_cast<double>(max))",
    replace: "static_cast<double>(max)",
  },
  {
    name: "a row without a key: 0 / 0",
    file: "src/softmax.cpp",
    find: "total == 0.0F ? 1.0F : total",
    replace: "total",
  },
  {
    name: "weights are not divided by their sum",
    file: "src/softmax.cpp",
    find: "total == 0.0F ? 1.0F : total",
    replace: "total == 0.0F ? 1.0F : 1.0F",
  },
  {
    name: "-Infinity replaced by -1e9",
    file: "src/mask.cpp",
    find: "constexpr float kHidden = -std::numeric_limits<float>::infinity();",
    replace: "constexpr float kHidden = -1e9F;",
  },
  {
    name: "-Infinity replaced by -1e4",
    file: "src/mask.cpp",
    find: "constexpr float kHidden = -std::numeric_limits<float>::infinity();",
    replace: "constexpr float kHidden = -1e4F;",
  },
  {
    name: "-Infinity replaced by the lowest float",
    file: "src/mask.cpp",
    find: "constexpr float kHidden = -std::numeric_limits<float>::infinity();",
    replace: "constexpr float kHidden = std::numeric_limits<float>::lowest();",
  },
  {
    name: "a sum beyond float32 becomes infinite",
    file: "src/float_range.hpp",
    find: "  return static_cast<float>(std::clamp(value, -kMax, kMax));",
    replace: "  return static_cast<float>(std::clamp(value, -kMax * kMax, kMax * kMax));",
  },
  {
    name: "boolean polarity flipped",
    file: "src/mask.cpp",
    find: "    return keep->storage()[offset] != 0 ? 0.0F : kHidden;",
    replace: "    return keep->storage()[offset] == 0 ? 0.0F : kHidden;",
  },
  {
    name: "a boolean mask added as 0 and 1",
    file: "src/mask.cpp",
    find: "    return keep->storage()[offset] != 0 ? 0.0F : kHidden;",
    replace: "    return static_cast<float>(keep->storage()[offset]);",
  },
  {
    name: "only the value 1 counts as true",
    file: "src/mask.cpp",
    find: "    return keep->storage()[offset] != 0 ? 0.0F : kHidden;",
    replace: "    return keep->storage()[offset] == 1 ? 0.0F : kHidden;",
  },
  {
    name: "one hidden place among several masks is not enough",
    file: "src/mask.cpp",
    find: "    if (value == kHidden) {",
    replace: "    if (value == kHidden && spec_.masks.size() == 1) {",
  },
  {
    name: "the last mask overwrites the others",
    file: "src/mask.cpp",
    find: "    sum = within_float_range(sum + static_cast<double>(value));",
    replace: "    sum = static_cast<double>(value);",
  },
  {
    name: "an explicit mask replaces causality",
    file: "src/mask.cpp",
    find: "  if (spec_.causal != Causal::none && key > position) {",
    replace: "  if (spec_.causal != Causal::none && spec_.masks.empty() && key > position) {",
  },
  {
    name: "diagonal one too far",
    file: "src/mask.cpp",
    find: "  if (spec_.causal != Causal::none && key > position) {",
    replace: "  if (spec_.causal != Causal::none && key > position + 1) {",
  },
  {
    name: "diagonal one too short",
    file: "src/mask.cpp",
    find: "  if (spec_.causal != Causal::none && key > position) {",
    replace: "  if (spec_.causal != Causal::none && key >= position) {",
  },
  {
    name: "rows and columns of causality swapped",
    file: "src/mask.cpp",
    find: "  if (spec_.causal != Causal::none && key > position) {",
    replace: "  if (spec_.causal != Causal::none && key < position) {",
  },
  {
    name: "causality ignored",
    file: "src/mask.cpp",
    find: "  if (spec_.causal != Causal::none && key > position) {",
    replace: "  if (spec_.causal != Causal::none && key > position && key < 0) {",
  },
  {
    name: "bottom right treated as top left",
    file: "src/mask.cpp",
    find: "    return Alignment::bottom_right;",
    replace: "    return Alignment::top_left;",
  },
  {
    name: "top left treated as bottom right",
    file: "src/mask.cpp",
    find: "  if (spec.causal == Causal::top_left) {",
    replace: "  if (spec.causal == Causal::top_left && queries == keys) {",
  },
  {
    name: "L != S: the alignment is guessed",
    file: "src/mask.cpp",
    find: "  if (positional && !spec.alignment && queries != keys) {",
    replace: "  if (positional && !spec.alignment && queries > keys + queries) {",
  },
  {
    name: "the added keys are hidden by masks and causality",
    file: "src/mask.cpp",
    find: "  if (j >= masked_keys_) {",
    replace: "  if (j > masked_keys_) {",
  },
  {
    name: "a broadcast axis read with a wrong stride",
    file: "src/mask.cpp",
    find: "    strides[target.size() - back] = size == 1 ? 0 : stride;",
    replace: "    strides[target.size() - back] = size == 1 ? 0 : (back == 3 ? own.back() : stride);",
  },
  {
    name: "a mask of another size accepted",
    file: "src/mask.cpp",
    find: "    if (size != wanted && size != 1) {",
    replace: "    if (size != wanted && size != 1 && back == 1) {",
  },
  {
    name: "NaN as a bias accepted",
    file: "src/mask.cpp",
    find: "    if (std::isnan(value) || value == std::numeric_limits<float>::infinity()) {",
    replace: "    if (value == std::numeric_limits<float>::infinity()) {",
  },
  {
    name: "+Infinity as a bias accepted",
    file: "src/mask.cpp",
    find: "    if (std::isnan(value) || value == std::numeric_limits<float>::infinity()) {",
    replace: "    if (std::isnan(value)) {",
  },
  {
    name: "padding on the other side",
    file: "src/mask.cpp",
    find: "side == PaddingSide::left ? keys - lengths[b] : 0;",
    replace: "side == PaddingSide::right ? keys - lengths[b] : 0;",
  },
  {
    name: "combined masks forget that one was additive",
    file: "src/mask.cpp",
    find: "    additive = additive || std::holds_alternative<NdArray>(mask);",
    replace: "    additive = std::holds_alternative<NdArray>(mask);",
  },

  // attention
  {
    name: "no scale",
    file: "src/attention.cpp",
    find: "    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim)));",
    replace: "    return head_dim > 0 ? 1.0F : 0.0F;",
  },
  {
    name: "divided by the head dim instead of its root",
    file: "src/attention.cpp",
    find: "    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim)));",
    replace: "    return static_cast<float>(1.0 / static_cast<double>(head_dim));",
  },
  {
    name: "scaled by the root of S",
    file: "src/attention.cpp",
    find: "  const float scale = resolve_scale(options.scale, q.shape(3));",
    replace: "  const float scale = resolve_scale(options.scale, k.shape(2));",
  },
  {
    name: "scale applied twice",
    file: "src/attention.cpp",
    find: "    score = within_float_range(static_cast<double>(score) * static_cast<double>(scale));",
    replace:
      "    score = within_float_range(static_cast<double>(score) * static_cast<double>(scale * scale));",
  },
  {
    name: "a scale of one's own multiplies the default",
    file: "src/attention.cpp",
    find: "  return *scale;",
    replace: "  return *scale / std::sqrt(static_cast<float>(head_dim));",
  },
  {
    name: "query heads share keys in turn (h % Hkv)",
    file: "src/attention.cpp",
    find: "          const float* key = &k(b, h / group, j, 0);",
    replace: "          const float* key = &k(b, h % (q.shape(1) / group), j, 0);",
  },
  {
    name: "query heads share values in turn (h % Hkv)",
    file: "src/attention.cpp",
    find: "          const float* value = &v(b, h / group, j, 0);",
    replace: "          const float* value = &v(b, h % (weights.shape(1) / group), j, 0);",
  },
  {
    name: "values at hidden places are multiplied by 0 instead of skipped",
    file: "src/attention.cpp",
    find: "          if (rule.hides(b, h, i, j)) {",
    replace: "          if (rule.hides(b, h, i, j) && weights(b, h, i, j) != 0.0F) {",
  },
  {
    name: "a sample reads the values of the first",
    file: "src/attention.cpp",
    find: "          const float* value = &v(b, h / group, j, 0);",
    replace: "          const float* value = &v(0 * b, h / group, j, 0);",
  },
  {
    name: "the last feature of q and k is left out",
    file: "src/attention.cpp",
    find: "          for (std::size_t e = 0; e < q.shape(3); ++e) {",
    replace: "          for (std::size_t e = 0; e + (q.shape(3) > 16 ? 1 : 0) < q.shape(3); ++e) {",
  },

  // heads and projections
  {
    name: "heads merged without a transpose",
    file: "src/heads.cpp",
    find: "          merged(b, i, h * head_dim + e) = x(b, h, i, e);",
    replace:
      "          merged.data()[((b * x.shape(1) + h) * x.shape(2) + i) * head_dim + e] = x(b, h, i, e);",
  },
  {
    name: "columns dealt out to the heads in turn",
    file: "src/heads.cpp",
    find: "          split(b, h, i, e) = x(b, i, h * head_dim + e);",
    replace: "          split(b, h, i, e) = x(b, i, e * heads + h);",
  },
  {
    name: "the weight of a projection read transposed",
    file: "src/linear.cpp",
    find: "          sum += static_cast<double>(x(b, i, column)) * static_cast<double>(weight(row, column));",
    replace:
      "          sum += static_cast<double>(x(b, i, column)) * static_cast<double>(weight.data()[column * weight.shape(0) + row]);",
  },
  {
    name: "the bias of a projection used twice",
    file: "src/linear.cpp",
    find: "static_cast<double>(bias(row));",
    replace: "2.0 * static_cast<double>(bias(row));",
  },
  {
    name: "the bias of a projection not used",
    file: "src/linear.cpp",
    find: "static_cast<double>(bias(row));",
    replace: "0.0 * static_cast<double>(bias(row));",
  },
  {
    name: "a projection summed in single precision",
    file: "src/linear.cpp",
    find: "        double sum = bias.size()",
    replace: "        float sum = bias.size()",
  },

  // the module
  {
    name: "keys and values swapped in the packed in-projection",
    file: "src/multi_head.cpp",
    find: "    loaded.key.weight = matrix_rows(packed, d, d);",
    replace: "    loaded.key.weight = matrix_rows(packed, 2 * d, d);",
  },
  {
    name: "queries and values swapped in the packed in-projection",
    file: "src/multi_head.cpp",
    find: "    loaded.value.weight = matrix_rows(packed, 2 * d, d);",
    replace: "    loaded.value.weight = matrix_rows(packed, 0, d);",
  },
  {
    name: "the value projection takes the bias of the keys",
    file: "src/multi_head.cpp",
    find: "    loaded.value.bias = elements(packed, 2 * d, d);",
    replace: "    loaded.value.bias = elements(packed, d, d);",
  },
  {
    name: "key mask ignored beside another mask",
    file: "src/multi_head.cpp",
    find: "  if (options.key_mask) {",
    replace: "  if (options.key_mask && options.masks.empty()) {",
  },
  {
    name: "key mask ignored beside causality",
    file: "src/multi_head.cpp",
    find: "  if (options.key_mask) {",
    replace: "  if (options.key_mask && options.causal == Causal::none) {",
  },
  {
    name: "causality dropped by the module",
    file: "src/multi_head.cpp",
    find: "  visible.causal = options.causal;",
    replace: "  visible.causal = Causal::none;",
  },
  {
    name: "the key of zeros stands before the learned one",
    file: "src/multi_head.cpp",
    find: "    std::copy_n(learned.data(), learned.size(), rows + keys * width);",
    replace:
      "    std::copy_n(learned.data(), learned.size(), rows + (keys + added_keys() - (learned.size() > 0 ? 1 : 0)) * width);",
  },
  {
    name: "average over heads divided by nothing",
    file: "src/multi_head.cpp",
    find: "sum / static_cast<double>(heads)",
    replace: "sum",
  },
  {
    name: "unexpected parameters accepted",
    file: "src/state_dict.cpp",
    find: "    if (taken_.count(name) == 0) {",
    replace: "    if (taken_.count(name) > 1) {",
  },
  {
    name: "the bias left out of the number of parameters",
    file: "src/multi_head.cpp",
    find: "  return weights + (config_.bias ? 4 * d : 0) +",
    replace: "  return weights + (config_.bias ? 3 * d : 0) +",
  },

  // the leak check
  {
    name: "a permuted replacement may leave every token where it was",
    file: "src/causality.cpp",
    find: "    const std::size_t turn = 1 + random.below(order.size() - 1);",
    replace: "    const std::size_t turn = random.below(order.size());",
  },
  {
    name: "a large replacement overwrites instead of adding",
    file: "src/causality.cpp",
    find: "            token[e] += magnitude;",
    replace: "            token[e] = magnitude;",
  },
  {
    name: "random replacement ignores the magnitude",
    file: "src/causality.cpp",
    find: "            token[e] = static_cast<float>(random.next()) * magnitude;",
    replace: "            token[e] = static_cast<float>(random.next());",
  },
  {
    name: "replacing with NaN replaces with something else",
    file: "src/causality.cpp",
    find: "            token[e] = std::numeric_limits<float>::quiet_NaN();",
    replace: "            token[e] = std::numeric_limits<float>::infinity();",
  },
  {
    name: "the first token of the range stays",
    file: "src/causality.cpp",
    find: "    for (std::size_t position = first; position < end; ++position) {",
    replace: "    for (std::size_t position = first + 1; position < end; ++position) {",
  },
  {
    name: "compare_positions ignores NaN",
    file: "src/causality.cpp",
    find: "  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;",
    replace: "  return std::isnan(difference) ? 0.0 : difference;",
  },
  {
    name: "compare_positions compares values instead of bits",
    file: "src/causality.cpp",
    find: "tolerance == 0 ? !same_bits(a[e], b[e]) : far > tolerance;",
    replace: "tolerance == 0 ? a[e] != b[e] : far > tolerance;",
  },
  {
    name: "compare_positions keeps the last distance instead of the largest",
    file: "src/causality.cpp",
    find: "          moves.distance[position] = std::max(moves.distance[position], far);",
    replace: "          moves.distance[position] = far;",
  },
  {
    name: "a fault that is none",
    file: "src/faulty.cpp",
    find: "  return masked_where([](std::size_t i, std::size_t j) { return j <= i + 1; }, q, k, v);",
    replace: "  return masked_where([](std::size_t i, std::size_t j) { return j <= i; }, q, k, v);",
  },

  // numbers shown
  {
    name: "variance divided by n instead of n - 1",
    file: "src/statistics.cpp",
    find: "squares / (n - 1)",
    replace: "squares / n",
  },
  {
    name: "random numbers of half the variance",
    file: "src/random.cpp",
    find: "std::sqrt(-2.0 * std::log(uniform(engine_)));",
    replace: "std::sqrt(-1.0 * std::log(uniform(engine_)));",
  },
  {
    name: "weighted sum left out of the operations",
    file: "src/cost.cpp",
    find: "  count.attention = count.scores + count.weighted_sum;",
    replace: "  count.attention = count.scores;",
  },
];
