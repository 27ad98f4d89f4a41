
// The program in the page ----------------------------------------------------------------------

const decode = (id) => {
  const text = atob($(id).textContent), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

// The program is taken apart once; each command has a worker of its own, which can be stopped.
const ready = (async () => {
  const stream = new Blob([decode("program")]).stream().pipeThrough(new DecompressionStream("gzip"));
  const program = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  $("program").remove();
  return { program, products: await WebAssembly.compile(decode("products")) };
})();
ready.catch((err) => problem(`This browser cannot run the program (${err.message}): take a newer one, such as Firefox or Chrome of this year.`));
const workerURL = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));

// budget is the memory in MB that a command may take for what it reads, and for files as much again. A tab has 4 GB at most; what the computer
// has only some browsers say, and 8 GB at most.
const budget = Math.min(1536, (navigator.deviceMemory || 8) * 192);

// less is what to do where it does not suffice.
const less = "take fewer rows or columns, or the program for the shell, which has no such limit";

// run runs a command on the chosen files, and returns what it printed and wrote.
async function run(args, wanted, { files = [...chosen.source, ...chosen.target], quiet = false } = {}) {
  const modules = await ready, worker = new Worker(workerURL), lines = [];
  const result = await new Promise((resolve) => {
    if (!quiet) stopCommand = () => resolve({ stopped: true });
    worker.onerror = (event) => resolve({ code: 2, lines: [event.message] });
    worker.onmessage = ({ data }) => {
      if (data.line !== undefined) { lines.push(data.line); $("said").textContent += data.line + "\n"; }
      else if (data.what) { if (!quiet) showProgress(data); }
      else resolve(data);
    };
    worker.postMessage({ ...modules, args: [...args, "--memory-limit", `${budget}M`], budget, chosen: files.map(({ name, file }) => ({ name, file })), wanted });
  });
  worker.terminate();
  if (result.stopped) throw Object.assign(new Error("Stopped."), { stopped: true });
  const said = result.lines || lines;
  if (result.code) throw new Error(/out of memory|could not grow|out of bounds|no space left/i.test(said.join("\n")) ? `The files need more memory than a browser gives: ${less}.` : sentence(said, args[0]));
  return result;
}
