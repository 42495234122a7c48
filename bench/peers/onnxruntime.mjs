import { urlOf } from "../environment.mjs";
import { readModels } from "../models.mjs";
import { dimensions, swapAxes } from "../workloads.mjs";

const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: "all" };

/** Models of rank 3 want heads last. */
function feedsOf({ Tensor }, wanted, shape, inputs) {
  return Object.fromEntries(
    Object.entries(wanted).map(([name, dims]) => {
      const [heads, length] = dimensions(shape)[name];
      const data = name !== "x" && dims.length === 3 ? swapAxes(inputs[name], heads, length) : inputs[name];
      return [name, new Tensor("float32", data, dims)];
    }),
  );
}

const over = (ort, peer) => async (shape, inputs) => {
  const models = await readModels(shape.id);
  return models.map(({ form, inputs: wanted, model }) => ({
    peer: wanted.q && !wanted.k ? `${peer}, constant K and V` : peer,
    form,
    headsLast: wanted.q?.length === 3,
    open: async () => {
      const session = await ort.InferenceSession.create(model, sessionOptions);
      const feeds = feedsOf(ort, wanted, shape, inputs);
      return {
        run: async () => (await session.run(feeds)).y.data,
        dispose: () => session.release(),
      };
    },
  }));
};

export async function loadWeb() {
  const ort = await import(urlOf("bench/node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs"));
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
  return over(ort, "onnxruntime-web");
}

export async function loadNative() {
  const { default: ort } = await import("onnxruntime-node");
  ort.env.logLevel = "error";
  return over(ort, "onnxruntime-node (native)");
}
