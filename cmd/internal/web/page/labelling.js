
// Labels of a person --------------------------------------------------------------------------

// The rows that mars ask drew, one of which is shown at a time; null: none are drawn.
let sheet = null;

// A Sheet is the table of mars ask. Its other methods are what commands need of it.
class Sheet {
  fresh = new Set(); // classes that the files lack
  seen = []; // rows that were labelled or skipped, in order
  constructor(name, saved, command, text, file) {
    const [head, ...rows] = table(text), at = (column) => head.lastIndexOf(column);
    Object.assign(this, { name, saved, command, head, rows, file });
    // What was asked stays, whatever is chosen meanwhile.
    Object.assign(this, { question: question(), target: filesOf("target"), inputs: [...chosen.source, ...chosen.target] });
    this.label = at("predicted_class") - 1; // the empty column stands before
    this.guess = at("predicted_class");
    this.sure = at("confidence");
  }
  get row() { return this.rows[this.seen.length]; }
  get labelled() { return this.rows.filter((r) => r[this.label]).length; }
  values() { return this.head.map((name, i) => [name, this.row[i]]).slice(1, this.label); }
  filled() {
    const cell = (text) => /^\s|\s$|[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    return new Blob([[this.head, ...this.rows].map((r) => r.map(cell).join(",") + "\n").join("")], { type: "text/csv" });
  }
  flags() { return ["--labels", this.name, ...[...this.fresh].flatMap((name) => ["--new-class", /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name])]; }
  model() { return ["--model", this.saved, ...this.target, ...this.flags()]; }
  files() { return [...this.inputs, { name: this.name, file: this.filled() }, { name: this.saved, file: this.file }]; }
}

// leave forgets the rows.
function leave() {
  sheet = null;
  $("own").hidden = $("panel").hidden = $("labelled").hidden = true;
  $("draw").hidden = false;
}

async function draw() {
  const name = free("ask.csv"), saved = free("asked.safetensors"), columns = chosen.target[0].look.Columns.length, most = 100;
  const command = ["ask", ...question(), "--budget", $("budget").value, ...(columns > 12 && columns <= most ? ["--keep", "all"] : []), "-o", name, "--save", saved];
  let classes;
  const done = await during("Choosing rows …", async () => {
    const { files } = await run(command, [name, saved]);
    sheet = new Sheet(name, saved, command, await files[name].text(), files[saved]);
    classes = table(await results[free("shares.csv")].text()).slice(1).map((r) => r[0]);
  });
  if (!done) return;
  $("classes").replaceChildren();
  classes.forEach(addClass);
  $("counted").replaceChildren(); $("narrow").textContent = "";
  $("draw").hidden = true;
  $("panel").hidden = $("labelled").hidden = false;
  show();
  $("panel").focus();
}

// keys of classes: digits, then letters that mean nothing else.
const keys = "123456789abcdefghijklmopqrtvwxyz";

function addClass(name) {
  const key = keys[$("classes").children.length], button = make("button", name, { type: "button", value: name });
  if (key) button.append(" ", make("kbd", key));
  button.onclick = () => give(name);
  $("classes").append(button);
}

function show() {
  const { row, seen, rows } = sheet, over = !row;
  $("which").textContent = over ? "You have seen all rows." : `Row ${seen.length + 1} of ${rows.length}`;
  $("guessed").textContent = over ? "" : `The program’s guess: ${row[sheet.guess]}, ${Math.round(100 * row[sheet.sure])} % sure.`;
  $("values").replaceChildren(...over ? [] : sheet.values().map(([name, value]) => {
    const line = make("tr");
    line.append(make("th", name, { scope: "row" }), make("td", value));
    return line;
  }));
  $("what").hidden = over;
  for (const control of [...$("classes").children, $("other"), $("skip")]) control.ariaDisabled = String(over);
  $("back").ariaDisabled = String(seen.length === 0);
  URL.revokeObjectURL($("filled").href);
  Object.assign($("filled"), { href: URL.createObjectURL(sheet.filled()), download: sheet.name });
  if (over) $("use").focus();
}

// give labels the row, or with "" passes it over.
function give(name) {
  if (!sheet.row) return;
  sheet.row[sheet.label] = name;
  sheet.seen.push(sheet.seen.length);
  show();
  if (name) recount();
}

function back() {
  if (!sheet.seen.length) return;
  sheet.seen.pop();
  const had = sheet.row[sheet.label];
  sheet.row[sheet.label] = "";
  show();
  if (had) recount();
}

function other(open) {
  $("name").hidden = !open;
  if (open) { $("fresh").value = ""; $("fresh").focus(); } else $("panel").focus();
}

function take() {
  const name = $("fresh").value.trim(), known = [...$("classes").children].find((b) => b.value.toLowerCase() === name.toLowerCase());
  if (!name) return;
  if (!known) { sheet.fresh.add(name); addClass(name); }
  other(false);
  give(known ? known.value : name);
}

// recount has the program say what the labels so far make of the shares: once more if there were others meanwhile.
let counting = null, again = false;
function recount() {
  again = true;
  return counting ||= (async () => {
    $("counted").ariaBusy = "true";
    try {
      while (again) {
        again = false;
        const of = sheet;
        if (!of?.labelled) { $("counted").replaceChildren(); $("narrow").textContent = ""; continue; }
        const { printed } = await run(["proportions", ...of.model(), "--json", "-q"], [], { files: of.files(), quiet: true });
        if (of === sheet) showCount(JSON.parse(printed));
      }
      problem("");
    } catch (err) { problem(err.message); } finally { $("counted").ariaBusy = "false"; counting = null; }
  })();
}

function showCount({ classes, proportions, interval, labelled }) {
  const { lower, upper } = interval, { holds } = labelled, points = (k) => 100 * (upper[k] - lower[k]), widest = Math.max(...classes.map((_, k) => points(k)));
  $("narrow").textContent = `${labelled.rows} ${labelled.rows === 1 ? "row has" : "rows have"} your label. The widest interval is ${widest.toFixed(0)} percentage points wide. Four times as many labels halve it.`;
  $("counted").replaceChildren(...drawn("Shares by your labels", ["Class", "Share", "90 % interval", "From 0 to 100 %", "Guaranteed"], classes.map((name, k) =>
    [name, percent(proportions.estimated[k]), range(lower[k], upper[k]), { left: lower[k], right: upper[k], at: proportions.estimated[k] }, range(holds.lower[k], holds.upper[k])])));
}

$("draw").onclick = draw;
$("other").onclick = () => sheet.row && other(true);
$("skip").onclick = () => give("");
$("back").onclick = back;
$("add").onclick = take;
$("cancel").onclick = () => other(false);
$("use").onclick = async () => {
  if (!sheet.labelled) return problem("No row has your label yet.");
  await counting;
  await answer(sheet);
};
$("panel").onkeydown = (event) => {
  const { key, target } = event, buttons = [...$("classes").children], move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (target === $("fresh")) {
    if (key === "Enter") take(); else if (key === "Escape") other(false); else return;
  } else if (move && !target.closest(".scroll")) buttons[(buttons.indexOf(target) + move + (buttons.includes(target) || move > 0 ? 0 : 1) + buttons.length) % buttons.length].focus();
  else if (key === "n") $("other").click();
  else if (key === "s") give("");
  else if (key === "u") back();
  else if (key.length === 1 && buttons[keys.indexOf(key)]) give(buttons[keys.indexOf(key)].value);
  else return;
  event.preventDefault();
};
