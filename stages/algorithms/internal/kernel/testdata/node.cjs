// Runs a test that is built for WebAssembly with the tag simd, with the functions of products.wasm, as the page of
// make web does: GOOS=js GOARCH=wasm go test -tags simd -exec "node --stack-size=8192 $PWD/testdata/node.cjs"
const path = require("node:path"), { execSync } = require("node:child_process");
Object.assign(globalThis, { require, fs: require("node:fs"), path });
require(path.join(execSync("go env GOROOT").toString().trim(), "lib/wasm/wasm_exec.js"));
const [, , program, ...args] = process.argv;
const go = new Go();
let products;
const kernel = Object.fromEntries(["sgemm", "dgemm"].map((name) => [name, (...values) => products[name](...values)]));
go.argv = [program, ...args];
go.env = { TMPDIR: require("node:os").tmpdir(), ...process.env };
go.exit = process.exit;
(async () => {
  const { instance } = await WebAssembly.instantiate(fs.readFileSync(program), { ...go.importObject, kernel });
  products = (await WebAssembly.instantiate(fs.readFileSync(path.join(__dirname, "../products.wasm")), { go: { mem: instance.exports.mem } })).instance.exports;
  await go.run(instance);
})().catch((err) => { console.error(err); process.exit(1); });
