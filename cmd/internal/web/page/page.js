"use strict";
const $ = (id) => document.getElementById(id);
const make = (tag, text, more) => Object.assign(document.createElement(tag), { textContent: text ?? "" }, more);
const decode = (id) => {
  const text = atob($(id).textContent), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};
const sides = ["source", "target"], chosen = { source: [], target: [] };
let results = {}, urls = [];

// The program is taken apart once; each command has a worker of its own, which can be stopped.
const ready = (async () => {
  const stream = new Blob([decode("program")]).stream().pipeThrough(new DecompressionStream("gzip"));
  const program = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  $("program").remove();
  return { program, products: await WebAssembly.compile(decode("products")) };
})();
ready.catch((err) => problem(`This browser cannot run the program (${err.message}): take a newer one, such as Firefox or Chrome of this year.`));
const workerURL = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
let stopCommand = () => {};

// run runs a command on the chosen files, and returns what it printed and wrote.
async function run(args, wanted, files = [...chosen.source, ...chosen.target]) {
  const modules = await ready, worker = new Worker(workerURL), lines = [];
  const result = await new Promise((resolve) => {
    stopCommand = () => resolve({ stopped: true });
    worker.onerror = (event) => resolve({ code: 2, lines: [event.message] });
    worker.onmessage = ({ data }) => {
      if (data.line !== undefined) { lines.push(data.line); $("said").textContent += data.line + "\n"; }
      else if (data.what) showProgress(data);
      else resolve(data);
    };
    worker.postMessage({ ...modules, args, chosen: files.map(({ name, file }) => ({ name, file })), wanted });
  });
  worker.terminate();
  if (result.stopped) throw Object.assign(new Error("Stopped."), { stopped: true });
  if (result.code) throw new Error(sentence(result.lines || lines, args[0]));
  return result;
}

// sentence is the program's own about what went wrong: the last of its lines, with those that belong to it.
function sentence(lines, command) {
  const text = lines.join("\n");
  if (/out of memory|could not grow|Out of bounds/i.test(text)) return "The files need more memory than a browser gives: take fewer rows, or the program for the shell, which has no such limit.";
  const own = lines.filter((l) => !/^Run '/.test(l)), first = own.findLastIndex((l) => l.startsWith(`mars ${command}: `));
  return own.slice(Math.max(first, 0)).join("\n").replace(`mars ${command}: `, "");
}

function problem(text) { $("problem").textContent = text; $("problem").hidden = !text; }
function state(text) { $("state").textContent = text; }
function showProgress({ what, done, total }) {
  $("bar").hidden = false;
  if (total > 0) { $("bar").max = total; $("bar").value = Math.min(done, total); } else $("bar").removeAttribute("value");
  $("bar").title = what;
}

// during shows that something is done, and what went wrong with it.
async function during(text, work) {
  problem(""); state(text);
  $("bar").hidden = false; $("bar").removeAttribute("value");
  document.body.classList.add("busy");
  for (const id of ["run", "example", "source-files", "target-files"]) $(id).disabled = true;
  $("stop").hidden = false;
  try { await work(); state(""); return true; } catch (err) {
    state("");
    if (err.stopped) state(err.message); else problem(err.message);
    return false;
  } finally {
    $("bar").hidden = $("stop").hidden = true;
    document.body.classList.remove("busy");
    for (const id of ["run", "example", "source-files", "target-files"]) $(id).disabled = false;
  }
}

// Files ---------------------------------------------------------------------------------------

// nameOf is the name of a file for a command: one that means itself, and no two have.
function nameOf(file, side) {
  const name = file.name.replace(/[,*?[\]\\/\p{Cc}]/gu, "_").replace(/^[-.]/, "_"), taken = [...chosen.source, ...chosen.target].some((c) => c.name === name);
  return taken ? `${side}/${name}` : name;
}

async function add(side, files) {
  for (const file of files) {
    if (chosen[side].some((c) => c.file.name === file.name)) continue;
    chosen[side].push({ name: nameOf(file, side), file });
  }
  list(side);
  await look();
}

function list(side) {
  $(side).querySelector("ul").replaceChildren(...chosen[side].map((c) => {
    const item = make("li"), remove = make("button", "×", { type: "button", className: "plain", ariaLabel: `Remove ${c.name}` });
    remove.onclick = () => { chosen[side] = chosen[side].filter((other) => other !== c); list(side); columns(); $(side + "-files").focus(); };
    item.append(make("b", c.name), make("span", c.look ? ` ${c.look.Format}, ${count(c.look)}` : ""), remove);
    return item;
  }));
}

const count = (look) => `${look.More ? "more than " : ""}${look.Rows.toLocaleString("en")} rows, ${look.Columns.length.toLocaleString("en")} columns`;

// look has the program read the beginnings of files that it has not seen.
async function look() {
  await during("Reading …", async () => {
    for (const side of sides) for (const c of chosen[side]) {
      if (c.look) continue;
      try { c.look = JSON.parse((await run(["look", c.name], [], [c])).printed)[0]; } catch (err) {
        chosen[side] = chosen[side].filter((other) => other !== c);
        list(side);
        throw err;
      }
      list(side);
    }
  });
  columns();
}

// Columns -------------------------------------------------------------------------------------

const labelName = /^(y|target|truth)$|label|class|type|group|diagnos|outcome|species|category/i;
const identityName = /^(ids?|uuid|key|index|no|nr|row|barcode|sample|patient|subject|event|cell)$|[-_ .](id|uuid|key|index|barcode|no|nr)$|[a-z]I[dD]$/i;
const isIdentity = (c) => identityName.test(c.Name) || (c.Different && !c.Numbers);

function columns() {
  const both = sides.every((side) => chosen[side].length && chosen[side].every((c) => c.look));
  $("settings").hidden = !both;
  if (!both) return;
  const of = (side) => chosen[side][0].look.Columns, names = (side) => new Set(of(side).map((c) => c.Name));
  const inTarget = names("target"), score = (c) => (!inTarget.has(c.Name)) * 4 + labelName.test(c.Name) * 2 + (c.Kinds > 1 && !c.Numbers) - isIdentity(c) * 3;
  const ranked = [...of("source")].sort((a, b) => score(b) - score(a)), label = ranked[0];
  fill($("label"), of("source").map((c) => [c.Name, c.Name]), label.Name);
  const shared = of("target").filter((c) => isIdentity(c));
  fill($("identity"), [["", "Number of the row"], ...of("target").map((c) => [c.Name, c.Name])], shared.find((c) => c.Different)?.Name || "");
  $("guess").textContent = score(label) > 3 ? `“${label.Name}” is our guess: ${inTarget.has(label.Name) ? "its name says so" : "the rows to label do not have it"}.` : "No column is clearly the label: choose it.";
  const head = make("tr"), gaps = { source: 0, target: 0 };
  head.append(...["File", "Column", "Holds", "Gaps", "Values", "Looks like"].map((t) => make("th", t, { scope: "col" })));
  $("read").replaceChildren(head);
  for (const side of sides) for (const c of of(side).slice(0, 200)) {
    const row = make("tr"), like = c.Name === label.Name && side === "source" ? "label" : isIdentity(c) ? "identity" : "";
    gaps[side] += c.Missing;
    row.append(make("td", chosen[side][0].name), make("th", c.Name, { scope: "row" }), make("td", c.Type), make("td", c.Missing || ""), make("td", c.Values), make("td", like));
    $("read").append(row);
  }
}

function fill(select, options, value) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => make("option", text, { value })));
  select.value = options.some(([v]) => v === before) && before ? before : value;
}

// Answers -------------------------------------------------------------------------------------

// free is a name for an output that no input has.
const free = (name) => [...chosen.source, ...chosen.target].some((c) => c.name === name) ? `mars-${name}` : name;

function question() {
  const args = [];
  for (const side of sides) for (const c of chosen[side]) args.push("--" + side, c.name);
  args.push("--label", $("label").value);
  if ($("identity").value) args.push("--id", $("identity").value);
  if ($("assume").value) args.push("--assume", $("assume").value);
  return args;
}

async function answer() {
  const labels = free("labels.csv"), page = free("labels.html"), model = free("model.safetensors"), shares = free("shares.csv"), sharesPage = free("shares.html");
  const known = "known.json", unknown = Number($("unknown").value) / 100;
  const label = ["label", ...question(), ...(unknown > 0 ? ["--unknown", String(unknown)] : []), "-o", labels, "--report", page, "--save", model];
  const proportions = ["proportions", ...question(), "-o", shares, "--report", sharesPage];
  $("answers").hidden = true; $("said").textContent = ""; $("log").hidden = false; results = {};
  const begun = Date.now();
  const done = await during("Labelling … this takes seconds for some thousands of rows, and minutes for very many.", async () => {
    const labelled = await run([...label, "--summary", known], [labels, page, model, known]);
    state("Counting, with an interval for each share …");
    const counted = await run(proportions, [shares, sharesPage]);
    results = { ...labelled.files, ...counted.files };
    const text = async (name) => await results[name].text();
    await show({ known: JSON.parse(await text(known)), labels: table(await text(labels)), shares: table(await text(shares)), pages: [["Labels", await text(page)], ["Shares", await text(sharesPage)]] });
    offer([[labels, "the label of each row, as CSV"], [shares, "the share of each class, as CSV"], [page, "the report on the labels"], [sharesPage, "the report on the shares"], [model, "the model, to label more rows of the same kind"]]);
    $("command").textContent = [label, proportions].map((args) => ["mars", ...args].map(quoted).join(" ")).join("\n");
  });
  if (!done) return;
  state(`Done in ${Math.max(1, Math.round((Date.now() - begun) / 1000))} seconds.`);
  $("answers").hidden = false;
  $("answer").focus();
}

const quoted = (word) => /^[\w@%+=:.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
const percent = (x) => `${(100 * x).toFixed(1)} %`;

async function show({ known, labels, shares, pages }) {
  $("verdict").textContent = known.verdict;
  const column = (t, name) => t[0].indexOf(name), [lower, upper, target, source] = ["lower", "upper", "target", "source"].map((name) => column(shares, name));
  $("shares").replaceChildren(drawn("Shares of the new rows", ["Class", "Share", "90 % interval", "Before"], shares.slice(1).map((r) => [r[0], percent(r[target]), `${percent(r[lower])} to ${percent(r[upper])}`, percent(r[source])])));
  const confidence = column(labels, "confidence"), least = labels.slice(1).sort((a, b) => a[confidence] - b[confidence]).slice(0, 10);
  $("doubtful").replaceChildren(drawn("Rows to check first", ["Row", "Label", "Sure"], least.map((r) => [r[0], r[1], `${(100 * r[confidence]).toFixed(0)} %`])));
  $("tabs").replaceChildren(...pages.map(([name, text], i) => {
    const tab = make("button", name, { type: "button" });
    tab.onclick = () => { $("report").srcdoc = text; for (const other of $("tabs").children) other.ariaPressed = String(other === tab); };
    if (i === 0) tab.click(), tab.ariaPressed = "true";
    else tab.ariaPressed = "false";
    return tab;
  }));
}

// The frame is as high as its page.
$("report").onload = () => {
  const inside = $("report").contentDocument?.documentElement;
  if (inside) new ResizeObserver(() => { $("report").style.height = `${inside.scrollHeight + 2}px`; }).observe(inside.querySelector("main") || inside);
};

function drawn(title, head, rows) {
  const all = make("div"), t = make("table"), top = make("tr"), box = make("div", "", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: title });
  top.append(...head.map((h) => make("th", h, { scope: "col" })));
  t.append(top, ...rows.map((cells) => { const r = make("tr"); r.append(...cells.map((c, i) => i ? make("td", c) : make("th", c, { scope: "row" }))); return r; }));
  box.append(t);
  all.append(make("h3", title), box);
  return all;
}

function offer(files) {
  urls.forEach(URL.revokeObjectURL);
  urls = [];
  $("downloads").replaceChildren(...files.map(([name, what]) => {
    const item = make("li"), href = URL.createObjectURL(results[name]);
    urls.push(href);
    item.append(make("a", name, { href, download: name }), make("span", `: ${what}`));
    return item;
  }));
}

// table takes CSV apart.
function table(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n"]*))(,|\r?\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.filter((r) => r.length > 1 || r[0]);
}

// An example: two markers of three kinds of cells, of which others are frequent in the new sample, which was
// measured on a machine that shifts all.
function example() {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647, normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
  const kinds = [["B cell", 2, 6], ["NK cell", 6, 2], ["T cell", 6, 7]];
  const rows = (n, weights, shift, labelled) => Array.from({ length: n }, (_, i) => {
    let r = random(), k = 0;
    while (k < 2 && (r -= weights[k]) > 0) k++;
    const [name, x, y] = kinds[k];
    return [`${labelled ? "a" : "b"}${i + 1}`, (x + normal() + shift).toFixed(3), (y + normal() + shift).toFixed(3), ...(labelled ? [name] : [])].join(",");
  });
  const file = (name, head, lines) => new File([[head, ...lines].join("\n") + "\n"], name);
  return [file("patient-1.csv", "cell_id,marker_1,marker_2,celltype", rows(600, [0.5, 0.2, 0.3], 0, true)), file("patient-2.csv", "cell_id,marker_1,marker_2", rows(600, [0.1, 0.3, 0.6], 0.8, false))];
}

for (const side of sides) {
  const box = $(side);
  $(side + "-files").onchange = ({ target }) => { const files = [...target.files]; target.value = ""; add(side, files); };
  box.ondragover = (event) => { event.preventDefault(); box.classList.add("over"); };
  box.ondragleave = () => box.classList.remove("over");
  box.ondrop = (event) => { event.preventDefault(); box.classList.remove("over"); if (!document.body.classList.contains("busy")) add(side, [...event.dataTransfer.files]); };
}
document.ondragover = document.ondrop = (event) => event.preventDefault();
$("example").onclick = async () => {
  [chosen.source, chosen.target] = example().map((file) => [{ name: file.name, file }]);
  sides.forEach(list);
  await look();
};
$("run").onclick = answer;
$("stop").onclick = () => stopCommand();
