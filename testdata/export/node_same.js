// ONNX Runtime for Node.js gives what it gives in Python: for each model named, what
// onnx_same.py kept.
const fs = require("fs");
const ort = require("onnxruntime-node");

async function check(model) {
  const kept = JSON.parse(fs.readFileSync(model + ".json", "utf8").replaceAll("NaN", "null"));
  const session = await ort.InferenceSession.create(model + ".onnx");
  const feeds = {};
  for (const [name, { type, dims, data }] of Object.entries(kept.inputs)) {
    const kind = type === "float64" ? Float64Array : Float32Array;
    const values = type === "string" ? data : kind.from(data, (v) => (v === null ? NaN : v));
    feeds[name] = new ort.Tensor(type, values, dims);
  }
  const { probability, label } = await session.run(feeds);
  let far = 0;
  kept.probability.forEach((p, i) => (far = Math.max(far, Math.abs(p - probability.data[i]))));
  console.log(`${model}: ${far.toExponential(1)} ${label.data[0]}`);
  if (!(far < 1e-5) || probability.data.length !== kept.probability.length || typeof label.data[0] !== "string")
    throw new Error(`${model}: the greatest difference is ${far}`);
}

(async () => {
  for (const model of process.argv.slice(2)) await check(model);
})();
