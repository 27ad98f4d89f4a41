
// The program that serves the page -------------------------------------------------------------

// Numbers of the files that the program has: each is sent once.
const sent = new WeakMap();

async function ask(path, body, signal) {
  let answer;
  try { answer = await fetch(path, { method: body === undefined ? "GET" : "POST", body, signal }); } catch (err) {
    if (err.name === "AbortError") throw Object.assign(new Error("Stopped."), { stopped: true });
    throw new Error("The program does not answer: mars ui has ended, or a file was changed after it was chosen. Start mars ui again and open the address that it prints.");
  }
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

// less is what to do where the memory does not suffice.
const less = "take fewer rows or columns, or a computer with more memory";

// run runs a command on the chosen files, and returns what it printed and wrote.
async function run(args, wanted, { files = [...chosen.source, ...chosen.target], quiet = false } = {}) {
  const abort = new AbortController(), { signal } = abort, inputs = {}, lines = [];
  if (!quiet) stopCommand = () => abort.abort();
  for (const { name, file } of files) {
    if (!sent.has(file)) sent.set(file, await (await ask(`file?time=${file.lastModified || Date.now()}`, file, signal)).json());
    inputs[name] = sent.get(file);
  }
  let result, rest = "";
  const reader = (await ask("run", JSON.stringify({ args, inputs, wanted }), signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  const hear = (data) => {
    if (data.line !== undefined) { lines.push(data.line); $("said").textContent += data.line + "\n"; }
    else if (data.what) { if (!quiet) showProgress(data); }
    else result = data;
  };
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const whole = (rest + part.value).split("\n");
      rest = whole.pop();
      for (const text of whole) hear(JSON.parse(text));
    }
  } catch (err) { throw signal.aborted ? Object.assign(new Error("Stopped."), { stopped: true }) : err; }
  if (!result) throw new Error("mars ui has ended: start it again and open the address that it prints.");
  if (result.code) throw new Error(sentence(lines, args[0]));
  const written = {};
  for (const [name, number] of Object.entries(result.files)) {
    written[name] = await (await ask(`file/${number}`, undefined, signal)).blob();
    sent.set(written[name], number);
  }
  return { printed: result.printed, files: written };
}
