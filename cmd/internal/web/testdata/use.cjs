// Uses the page as a person does: node use.cjs BROWSER PROGRAM PAGE FOLDER SOURCE TARGET BROKEN BOMB WESTERN
// BROWSER is chrome, firefox, or served: chrome, for which PAGE is the address of mars ui. Prints an object of JSON: what was seen, and what is wrong. In chrome it looks at
// every step in all widths, downloads into the folder, and leaves pictures in the folder that MARS_PICTURES names.
const fs = require("node:fs"), path = require("node:path");
const puppeteer = require("puppeteer-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [, , kind, program, address, folder, source, target, broken, bomb, western] = process.argv;
const seen = { wrong: [], requests: [], seconds: 0, narrow: [] };

const idle = (page) => page.waitForFunction(() => !document.body.classList.contains("busy") && document.body, { timeout: 600000 });
const text = (page, id) => page.$eval("#" + id, (e) => e.hidden ? "" : e.textContent);

async function drop(page, side, ...files) {
  const list = files.map((f) => ({ name: path.basename(f), bytes: fs.readFileSync(f).toString("base64") }));
  await page.evaluate((side, list) => {
    const data = new DataTransfer();
    for (const { name, bytes } of list) data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
    document.getElementById(side).dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, side, list);
  await idle(page);
}

// look looks at a step in all widths, light and dark.
async function look(page, step) {
  if (kind !== "chrome") return;
  for (const width of [375, 768, 1280, 1920]) for (const scheme of ["light", "dark"]) {
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await new Promise((done) => setTimeout(done, 300));
    const where = `${step}, ${width}, ${scheme}`, pictures = process.env.MARS_PICTURES;
    if (pictures) await page.screenshot({ path: path.join(pictures, `${step}-${width}-${scheme}.png`), fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) seen.wrong.push(`${where}: the page is ${wide} wide`);
    if (width > 375 && width !== 1280) continue;
    await page.evaluate(axe);
    const found = await page.evaluate(() => axe.run({ iframes: false }));
    for (const v of found.violations) seen.wrong.push(`${where}: axe: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120) + " " + (n.any[0]?.message || "")).join("; ")}`);
  }
  await page.setViewport({ width: 1280, height: 900 });
}

// labelRows labels rows by the keyboard alone: as they are guessed, but for one of another class, one that is passed over,
// and one that is taken back.
async function labelRows(page) {
  const counted = () => page.waitForFunction(() => document.getElementById("counted").ariaBusy === "false", { timeout: 600000 });
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  await page.$eval("#budget", (e) => { e.value = 24; });
  await page.focus("#draw");
  await press("Enter");
  await idle(page);
  seen.focus = await page.evaluate(() => document.activeElement.id);
  seen.row = await text(page, "which") + await text(page, "guessed") + await text(page, "values");
  const guess = () => page.evaluate(() => String(1 + [...document.querySelectorAll("#classes button")].findIndex((b) => document.getElementById("guessed").textContent.includes(`: ${b.value},`))));
  await press("ArrowDown", "ArrowDown", "ArrowUp", "Enter", "u"); // the first class, which is taken back
  for (let i = 0; i < 4; i++) await press(await guess());
  await counted();
  seen.narrow.push(await text(page, "narrow"));
  await look(page, "rows");
  await press("s", "n");
  await page.keyboard.type("Monocyte");
  await press("Enter");
  for (let i = 0; i < 12; i++) await press(await guess());
  await counted();
  seen.narrow.push(await text(page, "narrow"));
  seen.counted = await text(page, "counted");
  await look(page, "counted");
  seen.filled = await page.evaluate(() => sheet.filled().text());
  seen.saved = await page.$eval("#filled", (a) => a.download);
  await page.focus("#use");
  await press("Enter");
  await idle(page);
  seen.failed ||= await text(page, "problem");
  seen.settled = await text(page, "command");
  seen.labelsSettled = await page.evaluate(() => results["labels.csv"].text());
  seen.sharesSettled = await page.evaluate(() => results["shares.csv"].text());
  await look(page, "settled");
}

// tooLarge tries a file that a computer with little memory cannot hold.
async function tooLarge(browser) {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(() => Object.defineProperty(navigator, "deviceMemory", { value: 0.25 }));
  await page.goto(address);
  await drop(page, "source", bomb);
  await drop(page, "target", target);
  await page.select("#label", "celltype");
  await page.click("#run");
  await idle(page);
  seen.tooLarge = await text(page, "problem");
}

// settings labels with two files that are batches, one of them as an old program writes text, and takes Parquet.
async function settings(browser) {
  const page = await browser.newPage();
  await page.goto(address);
  await drop(page, "source", western);
  seen.encoding = await text(page, "problem");
  await page.select("#encoding", "windows-1252");
  await drop(page, "source", western, source);
  await drop(page, "target", target);
  seen.western = await text(page, "read");
  await page.select("#label", "celltype");
  await page.select("#parts", "--batch-files");
  await page.select("#format", "parquet");
  await page.click("#run");
  await idle(page);
  seen.failed ||= await text(page, "problem");
  seen.batches = await text(page, "command");
  seen.parquet = await page.evaluate(async () => (await results["labels.parquet"]?.text())?.slice(0, 4) ?? "");
}

(async () => {
  const browser = await puppeteer.launch(kind === "firefox" ? { browser: "firefox", executablePath: program } : { executablePath: program, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    page.on("console", (m) => seen.wrong.push(`the console says ${m.text()}`));
    page.on("pageerror", (err) => seen.wrong.push(`an error of the page: ${err.message}`));
    page.on("dialog", (d) => { seen.wrong.push(`a dialog: ${d.message()}`); d.dismiss(); });
    page.on("request", (r) => seen.requests.push(r.url()));
    await page.goto(address);
    await look(page, "start");

    await drop(page, "source", broken);
    seen.problem = await text(page, "problem");
    await drop(page, "source", source);
    await drop(page, "target", target);
    seen.label = await page.$eval("#label", (e) => e.value);
    seen.identity = await page.$eval("#identity", (e) => e.value);
    seen.chosen = await page.$eval("#source .chosen", (e) => e.textContent);
    await page.$$eval("details", (all) => all.forEach((d) => { d.open = true; }));
    await look(page, "read");

    await page.click("#run");
    await page.waitForFunction(() => document.getElementById("said").textContent && (document.getElementById("stop").click(), true), { timeout: 600000 });
    await idle(page);
    seen.stopped = await text(page, "state");

    const begun = Date.now();
    await page.focus("#run");
    await page.keyboard.press("Enter");
    await idle(page);
    seen.seconds = (Date.now() - begun) / 1000;
    if (seen.failed = await text(page, "problem")) throw new Error(seen.failed);
    seen.command = await text(page, "command");
    seen.verdict = await text(page, "verdict");
    seen.shares = await text(page, "shares");
    seen.labels = await page.evaluate(() => results["labels.csv"].text());
    seen.proportions = await page.evaluate(() => results["shares.csv"].text());
    const frame = await (await page.waitForSelector("#report")).contentFrame();
    await frame.waitForSelector("main svg");
    seen.report = await frame.evaluate(() => document.querySelector("h1").textContent);
    await page.$$eval("details", (all) => all.forEach((d) => { d.open = false; }));
    await look(page, "answer");
    if (kind !== "firefox") {
      const devtools = await browser.target().createCDPSession();
      await devtools.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
      for (const link of await page.$$("#downloads a")) {
        const name = path.join(folder, await link.evaluate((a) => a.download));
        await link.click();
        for (let i = 0; !fs.existsSync(name) && i < 100; i++) await new Promise((done) => setTimeout(done, 100));
      }
    }
    await labelRows(page);
    // The page could not send anything if it wanted to.
    seen.refused = await page.evaluate(() => new Promise((done) => {
      document.addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective));
      fetch("https://example.org/").catch(() => {});
      setTimeout(() => done("nothing"), 5000);
    }));
    await settings(browser);
    if (kind !== "served") await tooLarge(browser);
  } finally {
    await browser.close();
  }
  seen.wrong = seen.wrong.filter((w) => !w.includes("example.org")); // what the browser says of that
  console.log(JSON.stringify(seen));
})().catch((err) => { console.error(err); process.exit(1); });
