"use strict";
const $ = (id) => document.getElementById(id);
const make = (tag, text, more) => Object.assign(document.createElement(tag), { textContent: text ?? "" }, more);
const sides = ["source", "target"], chosen = { source: [], target: [] };
const urls = [];
let results = {}; // files to take along, by their names

let stopCommand = () => {};

// sentence is the program's own about what went wrong: the last of its lines, with those that belong to it.
function sentence(lines, command) {
  const own = lines.filter((l) => !/^Run '/.test(l)), first = own.findLastIndex((l) => l.startsWith(`mars ${command}: `));
  return own.slice(Math.max(first, 0)).join("\n").replace(`mars ${command}: `, "").replace(/give --encoding with the one it has.*/, "say below the files what it is").replace(/(give fewer rows or columns, or )?raise --memory-limit/, less).replace("or choose another id column", "or choose another identity above, such as the number of the row");
}

function problem(text) { $("problem").textContent = text; $("problem").hidden = !text; }
function state(text) { $("state").textContent = text; }
function showProgress({ what, done, total }) {
  $("bar").hidden = false;
  if (total > 0) { $("bar").max = total; $("bar").value = Math.min(done, total); } else $("bar").removeAttribute("value");
  $("bar").title = what;
}

// starts are the controls that begin something.
const starts = ["run", "encoding", "example", "source-files", "target-files", "draw", "use"];

// during shows that something is done, and what went wrong with it.
async function during(text, work) {
  problem(""); state(text);
  $("bar").hidden = false; $("bar").removeAttribute("value");
  document.body.classList.add("busy");
  for (const id of starts) $(id).disabled = true;
  $("stop").hidden = false;
  try { await work(); state(""); return true; } catch (err) {
    state("");
    if (err.stopped) state(err.message); else problem(err.message);
    return false;
  } finally {
    $("bar").hidden = $("stop").hidden = true;
    document.body.classList.remove("busy");
    for (const id of starts) $(id).disabled = false;
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
    item.append(make("b", c.name), remove, make("span", c.look ? `${c.look.Format}, ${count(c.look)}` : ""));
    return item;
  }));
}

// count says how many rows there are; of a large file only the beginning was read.
const count = (look) => `${look.More ? "more than " : ""}${(look.More && look.Rows > 999 ? look.Rows - look.Rows % 1000 : look.Rows).toLocaleString("en")} rows, ${look.Columns.length.toLocaleString("en")} columns`;

const encoding = () => $("encoding").value ? ["--encoding", $("encoding").value] : [];

// look has the program read the beginnings of files that it has not seen.
async function look() {
  await during("Reading …", async () => {
    for (const side of sides) for (const c of chosen[side]) {
      if (c.look) continue;
      try { c.look = JSON.parse((await run(["look", ...encoding(), c.name], [], { files: [c] })).printed)[0]; } catch (err) {
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
  $("batches").hidden = chosen.source.length < 2;
  if (!both) return;
  const of = (side) => chosen[side][0].look.Columns, names = (side) => new Set(of(side).map((c) => c.Name));
  const inTarget = names("target"), score = (c) => (!inTarget.has(c.Name)) * 4 + labelName.test(c.Name) * 2 + (c.Kinds > 1 && !c.Numbers) - isIdentity(c) * 3;
  const ranked = [...of("source")].sort((a, b) => score(b) - score(a)), label = ranked[0];
  fill($("label"), of("source").map((c) => [c.Name, c.Name]), label.Name);
  const shared = of("target").filter((c) => isIdentity(c));
  fill($("identity"), [["", "Number of the row"], ...of("target").map((c) => [c.Name, c.Name])], shared.find((c) => c.Different)?.Name || "");
  $("guess").textContent = score(label) > 3 ? `“${label.Name}” is our guess: ${inTarget.has(label.Name) ? "its name says so" : "the rows to label do not have it"}.` : "No column is clearly the label: choose it.";
  const head = make("tr");
  head.append(...["Column", "Looks like", "Holds", "Gaps", "Values"].map((t) => make("th", t, { scope: "col" })));
  $("read").replaceChildren(head);
  for (const side of sides) for (const { name, look } of chosen[side]) {
    const file = make("tr");
    file.append(make("th", name, { scope: "rowgroup", colSpan: 5 }));
    $("read").append(file);
    for (const c of look.Columns.slice(0, 200)) {
      const row = make("tr"), like = c.Name === label.Name && side === "source" ? "label" : isIdentity(c) ? "identity" : "";
      row.append(make("th", c.Name, { scope: "row" }), make("td", like), make("td", c.Type), make("td", c.Missing || ""), make("td", c.Values));
      $("read").append(row);
    }
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

// filesOf are the flags for the files of some sides, and for their columns.
function filesOf(...which) {
  const args = which.flatMap((side) => chosen[side].flatMap((c) => ["--" + side, c.name]));
  args.push("--label", $("label").value);
  if ($("identity").value) args.push("--id", $("identity").value);
  return [...args, ...encoding()];
}

function question() {
  const args = filesOf(...sides);
  if (chosen.source.length > 1 && $("parts").value) args.push($("parts").value);
  if ($("assume").value) args.push("--assume", $("assume").value);
  return args;
}

// answer labels and counts: with the labels that a person gave, if there are some.
async function answer(given) {
  const labels = free(`labels.${$("format").value}`), page = free("labels.html"), model = free("model.safetensors"), shares = free("shares.csv"), sharesPage = free("shares.html");
  const known = "known.json", unknown = Number($("unknown").value) / 100, saves = !given?.fresh.size;
  const label = ["label", ...(given ? given.question : question()), ...(unknown > 0 ? ["--unknown", String(unknown)] : []), ...(given ? given.flags() : []), "-o", labels, "--report", page, ...(saves ? ["--save", model] : [])];
  const proportions = ["proportions", ...(given ? given.model() : ["--model", model]), "-o", shares, "--report", sharesPage];
  const files = given ? given.files() : [...chosen.source, ...chosen.target];
  $("answers").hidden = $("more").hidden = true; $("said").textContent = ""; $("log").hidden = false; results = {};
  if (!given) leave();
  const begun = Date.now();
  const done = await during("Labelling … seconds for some thousands of rows, minutes for very many.", async () => {
    const labelled = await run([...label, "--summary", known], [labels, page, model, known], { files });
    if (saves) files.push({ name: model, file: labelled.files[model] });
    state("Counting …");
    const counted = await run(proportions, [shares, sharesPage], { files });
    await showLabels(labelled.files, [known, labels, page]);
    await showShares(counted.files, [shares, sharesPage]);
    offer({ [labels]: "the label of each row", [page]: "the report on the labels", ...(saves ? { [model]: "the model, to label more rows of the same kind" } : {}) }, labelled.files);
    offer({ [shares]: "the share of each class, as CSV", [sharesPage]: "the report on the shares" }, counted.files);
    if (given) offer({ [given.name]: "the rows with your labels" }, { [given.name]: given.filled() });
    $("command").textContent = [...(given ? [given.command] : []), label, proportions].map((args) => ["mars", ...args].map(quoted).join(" ")).join("\n");
    $("answers").hidden = $("own").hidden = $("more").hidden = false;
  });
  if (!done) return;
  state(`Done in ${Math.max(1, Math.round((Date.now() - begun) / 1000))} seconds.`);
  $("answer").focus();
}

const quoted = (word) => /^[\w@%+=:.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
const percent = (x) => `${(100 * x).toFixed(1)} %`, range = (from, to) => `${(100 * from).toFixed(1)}–${percent(to)}`;

async function showLabels(files, [known, labels, page]) {
  const [summary, report] = await Promise.all([known, page].map((name) => files[name].text()));
  const small = labels.endsWith(".csv") && files[labels].size < 1 << 26; // what a page can take apart
  const { verdict, judgement } = JSON.parse(summary), [head, ...all] = small ? table(await files[labels].text()) : [[]], confidence = head.indexOf("confidence");
  $("verdict").textContent = verdict;
  $("verdict").className = `lead ${judgement}`;
  const least = all.sort((a, b) => a[confidence] - b[confidence]).slice(0, 10);
  $("doubtful").replaceChildren(...all.length === 0 ? [] : drawn("Rows to check first", ["Row", "Label", "Sure"], least.map((r) => [r[0], r[1], `${(100 * r[confidence]).toFixed(0)} %`])));
  $("shares").replaceChildren(); $("tabs").replaceChildren(); $("downloads").replaceChildren();
  urls.splice(0).forEach(URL.revokeObjectURL);
  tab("Labels", report);
}

async function showShares(files, [shares, page]) {
  const [rows, report] = await Promise.all([shares, page].map((name) => files[name].text()));
  const [head, ...all] = table(rows), [lower, upper, target, source] = ["lower", "upper", "target", "source"].map((name) => head.indexOf(name));
  $("shares").replaceChildren(...drawn("Shares of the new rows", ["Class", "Share", "90 % interval", "In the rows with labels"],
    all.map((r) => [r[0], percent(r[target]), range(r[lower], r[upper]), percent(r[source])])));
  tab("Shares", report);
}

// tab adds a report to those that can be shown, and shows the first.
function tab(name, report) {
  const button = make("button", name, { type: "button", ariaPressed: "false" });
  button.onclick = () => {
    $("report").srcdoc = report;
    for (const other of $("tabs").children) other.ariaPressed = String(other === button);
  };
  $("tabs").append(button);
  if ($("tabs").children.length === 1) button.click();
}

// The frame is as high as its page.
$("report").onload = () => {
  const inside = $("report").contentDocument?.documentElement;
  if (inside) new ResizeObserver(() => { $("report").style.height = `${inside.querySelector("main").offsetHeight + 2}px`; }).observe(inside.querySelector("main"));
};

function drawn(title, head, rows) {
  const t = make("table"), top = make("tr"), box = make("div", "", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: title });
  top.append(...head.map((h) => make("th", h, { scope: "col" })));
  t.append(top, ...rows.map((cells) => { const r = make("tr"); r.append(...cells.map((c, i) => typeof c === "object" ? span(c) : i ? make("td", c) : make("th", c, { scope: "row" }))); return r; }));
  box.append(t);
  return [make("h3", title), box];
}

// span draws an interval of a share, and the share in it.
function span({ left, right, at }) {
  const cell = make("td"), track = make("span", "", { className: "track", ariaHidden: "true" });
  for (const [from, to, className] of [[left, right, "within"], [at, at, "at"]]) {
    const piece = make("span", "", { className });
    Object.assign(piece.style, { left: `${100 * from}%`, width: `${100 * (to - from)}%` });
    track.append(piece);
  }
  cell.append(track);
  return cell;
}

function offer(names, files) {
  for (const [name, what] of Object.entries(names)) {
    const item = make("li"), href = URL.createObjectURL(files[name]);
    urls.push(href);
    item.append(make("a", name, { href, download: name }), make("span", `: ${what}`));
    $("downloads").append(item);
    results[name] = files[name];
  }
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
$("encoding").onchange = () => { for (const side of sides) for (const c of chosen[side]) c.look = null; look(); };
$("run").onclick = () => answer();
$("stop").onclick = () => stopCommand();
