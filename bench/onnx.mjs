// ONNX models of each workload, in the forms in which onnxruntime can be asked for attention.

import protobuf from "protobufjs";
import { causalBias } from "./workloads.mjs";

// The part of onnx.proto that is used here; the numbers are the format.
const { root: schema } = protobuf.parse(
  `syntax = "proto2";
  message Attribute { optional string name = 1; optional float f = 2; optional int64 i = 3; optional int32 type = 20;
    repeated int64 ints = 8; }
  message Node { repeated string input = 1; repeated string output = 2; optional string op_type = 4;
    repeated Attribute attribute = 5; optional string domain = 7; }
  message Tensor { repeated int64 dims = 1; optional int32 data_type = 2; optional string name = 8;
    optional bytes raw_data = 9; }
  message Dimension { optional int64 dim_value = 1; }
  message Shape { repeated Dimension dim = 1; }
  message TensorType { optional int32 elem_type = 1; optional Shape shape = 2; }
  message Type { optional TensorType tensor_type = 1; }
  message ValueInfo { optional string name = 1; optional Type type = 2; }
  message Graph { repeated Node node = 1; optional string name = 2; repeated Tensor initializer = 5;
    repeated ValueInfo input = 11; repeated ValueInfo output = 12; }
  message Opset { optional string domain = 1; optional int64 version = 2; }
  message Model { optional int64 ir_version = 1; optional Graph graph = 7; repeated Opset opset_import = 8; }`,
  { keepCase: true },
);
const Model = schema.lookupType("Model");

const FLOAT = 1;
const INT64 = 7;

const attribute = ([name, value]) =>
  Array.isArray(value)
    ? { name, ints: value, type: 7 }
    : Number.isInteger(value)
      ? { name, i: value, type: 2 }
      : { name, f: value, type: 1 };

const node = (op_type, input, output, attributes = {}, domain = "") => ({
  op_type,
  input,
  output: [output],
  attribute: Object.entries(attributes).map(attribute),
  domain,
});

const microsoft = "com.microsoft";

const bytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const constant = (name, dims, data) => ({
  name,
  dims,
  data_type: data instanceof BigInt64Array ? INT64 : FLOAT,
  raw_data: bytes(data),
});

const valueInfo = ([name, dims]) => ({
  name,
  type: { tensor_type: { elem_type: FLOAT, shape: { dim: dims.map((dim_value) => ({ dim_value })) } } },
});

const encode = ({ nodes, inputs, outputs, constants = [] }) =>
  Model.encode({
    ir_version: 11,
    opset_import: [
      { domain: "", version: 23 },
      { domain: microsoft, version: 1 },
    ],
    graph: {
      name: "bench",
      node: nodes,
      input: Object.entries(inputs).map(valueInfo),
      output: Object.entries(outputs).map(valueInfo),
      initializer: constants,
    },
  }).finish();

/** MatMul, Softmax, MatMul. Query heads that share keys become rows of one. */
function plainForm({ heads, kvHeads, queries, keys, headDim, causal }) {
  const rows = (queries * heads) / kvHeads;
  const scores = causal ? "biased" : "scaled";
  return {
    form: "MatMul and Softmax",
    inputs: {
      q: [1, kvHeads, rows, headDim],
      k: [1, kvHeads, keys, headDim],
      v: [1, kvHeads, keys, headDim],
    },
    outputs: { y: [1, kvHeads, rows, headDim] },
    constants: [
      constant("scale", [], Float32Array.of(1 / Math.sqrt(headDim))),
      ...(causal ? [constant("bias", [queries, queries], causalBias(queries))] : []),
    ],
    nodes: [
      node("Transpose", ["k"], "kt", { perm: [0, 1, 3, 2] }),
      node("MatMul", ["q", "kt"], "scores"),
      node("Mul", ["scores", "scale"], "scaled"),
      ...(causal ? [node("Add", ["scaled", "bias"], "biased")] : []),
      node("Softmax", [scores], "weights", { axis: -1 }),
      node("MatMul", ["weights", "v"], "y"),
    ],
  };
}

/** The operator of ONNX's opset 23. */
function opsetForm({ heads, kvHeads, queries, keys, headDim, causal }) {
  return {
    form: "opset 23",
    inputs: {
      q: [1, heads, queries, headDim],
      k: [1, kvHeads, keys, headDim],
      v: [1, kvHeads, keys, headDim],
    },
    outputs: { y: [1, heads, queries, headDim] },
    nodes: [node("Attention", ["q", "k", "v"], "y", causal ? { is_causal: 1 } : {})],
  };
}

/** onnxruntime's own operator, which wants [B, L, H·E]. */
function ownForm({ heads, queries, keys, headDim, causal }) {
  const width = heads * headDim;
  return {
    form: "its own operator",
    inputs: { q: [1, queries, width], k: [1, keys, width], v: [1, keys, width] },
    outputs: { y: [1, queries, width] },
    nodes: [
      node(
        "MultiHeadAttention",
        ["q", "k", "v"],
        "y",
        { num_heads: heads, ...(causal ? { unidirectional: 1 } : {}) },
        microsoft,
      ),
    ],
  };
}

function transpose(x, rows, columns) {
  const y = new Float32Array(x.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) y[j * rows + i] = x[i * columns + j];
  return y;
}

function layerForms({ heads, queries, headDim }, { inWeight, inBias, outWeight, outBias }) {
  const model = heads * headDim;
  const dims = [1, queries, model];
  const projection = (part) => [
    constant(
      `weight${part}`,
      [model, model],
      transpose(inWeight.subarray(part * model * model, (part + 1) * model * model), model, model),
    ),
    constant(`bias${part}`, [model], inBias.subarray(part * model, (part + 1) * model)),
  ];
  const out = [
    constant("outWeight", [model, model], transpose(outWeight, model, model)),
    constant("outBias", [model], outBias),
  ];
  const outNodes = [node("MatMul", ["heads", "outWeight"], "out"), node("Add", ["out", "outBias"], "y")];
  const io = { inputs: { x: dims }, outputs: { y: dims } };
  const projected = {
    constants: [...[0, 1, 2].flatMap(projection), ...out],
    nodes: [0, 1, 2].flatMap((part) => [
      node("MatMul", ["x", `weight${part}`], `product${part}`),
      node("Add", [`product${part}`, `bias${part}`], `p${part}`),
    ]),
  };
  const split = constant("split", [4], BigInt64Array.of(1n, BigInt(queries), BigInt(heads), BigInt(headDim)));
  const merge = constant("merge", [3], BigInt64Array.from(dims, BigInt));
  const core = plainForm({ heads, kvHeads: heads, queries, keys: queries, headDim });
  return [
    {
      form: "its own operator",
      ...io,
      constants: [
        constant("weight", [model, 3 * model], transpose(inWeight, 3 * model, model)),
        constant("bias", [3 * model], inBias),
        ...out,
      ],
      nodes: [
        node("Attention", ["x", "weight", "bias"], "heads", { num_heads: heads }, microsoft),
        ...outNodes,
      ],
    },
    {
      form: core.form,
      ...io,
      constants: [...projected.constants, ...core.constants, split, merge],
      nodes: [
        ...projected.nodes,
        ...["q", "k", "v"].flatMap((name, part) => [
          node("Reshape", [`p${part}`, "split"], `r${part}`),
          node("Transpose", [`r${part}`], name, { perm: [0, 2, 1, 3] }),
        ]),
        ...core.nodes.slice(0, -1),
        node("MatMul", ["weights", "v"], "attended"),
        node("Transpose", ["attended"], "rows", { perm: [0, 2, 1, 3] }),
        node("Reshape", ["rows", "merge"], "heads"),
        ...outNodes,
      ],
    },
    {
      form: "opset 23",
      ...io,
      constants: projected.constants,
      nodes: [
        ...projected.nodes,
        node("Attention", ["p0", "p1", "p2"], "heads", { q_num_heads: heads, kv_num_heads: heads }),
        ...outNodes,
      ],
    },
  ];
}

/** Keys and values inside of the model: no copy of them at each call, and no way to append to them. */
const withConstants = ({ inputs: { q, k, v }, ...form }, inputs) => ({
  ...form,
  inputs: { q },
  constants: [...(form.constants ?? []), constant("k", k, inputs.k), constant("v", v, inputs.v)],
});

function attentionForms(shape, inputs) {
  const either = [plainForm(shape), opsetForm(shape)];
  return [
    ...(shape.heads === shape.kvHeads ? [ownForm(shape)] : []),
    ...either,
    ...(shape.decode ? either.map((form) => withConstants(form, inputs)) : []),
  ];
}

/** @returns what each form wants and is: [{ form, inputs: name → dims, model: Uint8Array }] */
export function modelsOf(shape, inputs) {
  const forms = (shape.kind === "layer" ? layerForms : attentionForms)(shape, inputs);
  return forms.map(({ form, ...graph }) => ({ form, inputs: graph.inputs, model: encode(graph) }));
}
