// Looks at pages in a browser as readers do: node look.cjs BROWSER FOLDER PAGE.html...
// Prints an object of JSON a view: its name, and what is wrong with it. Pictures of all views are left
// in the folder that MARS_PICTURES names, for whoever changes a page to look at.
const fs = require("node:fs"), path = require("node:path");
const puppeteer = require("puppeteer-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const widths = [375, 768, 1280, 1920];
const axed = [375, 1280]; // what axe asks depends on the layout, of which there are two
const views = widths.flatMap((width) => ["light", "dark"].map((scheme) => ({ width, scheme, media: "screen" })));
views.push({ width: 794, scheme: "light", media: "print" }); // A4 at 96 points an inch

// What a reader would miss: runs in the page, and returns sentences.
function missed(view) {
  const light = ([r, g, b]) => (0.21 * r + 0.72 * g + 0.07 * b) / 255;
  const wrong = [], seen = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const wide = document.documentElement.scrollWidth;
  if (wide > view.width) wrong.push(`the page is ${wide} points wide`);
  for (const e of document.querySelectorAll("body *")) {
    const name = e.tagName.toLowerCase(), box = e.getBoundingClientRect();
    if (e.closest("svg") && name !== "svg" && name !== "text") continue;
    if (!seen(e) || !box.width) continue;
    const rolls = e.closest(".scroll");
    if (!rolls && (box.right > view.width + 1 || box.left < -1)) wrong.push(`${name} ends at ${box.right}`);
    if (name === "text" && box.height < 8.5) wrong.push(`"${e.textContent}" is ${box.height.toFixed(1)} points high`);
    if (name === "svg" && e.classList.length && box.width > e.parentElement.clientWidth + 1) wrong.push(`figure ${e.getAttribute("aria-labelledby")} has to be scrolled`);
  }
  for (const f of document.querySelectorAll("figure")) {
    if (![...f.querySelectorAll("svg, img")].some(seen)) wrong.push(`nothing is drawn of "${f.previousElementSibling?.textContent || f.textContent.slice(0, 40)}"`);
  }
  const dark = light(getComputedStyle(document.body).backgroundColor.match(/\d+/g)) < 0.2;
  if (dark !== (view.scheme === "dark")) wrong.push(`the page is ${dark ? "dark" : "light"}`);
  if (document.querySelectorAll("h1").length !== 1) wrong.push("there is not one h1");
  if (view.media === "print") for (const d of document.querySelectorAll("details")) {
    const box = d.lastElementChild.getBoundingClientRect();
    if (!box.height) wrong.push(`"${d.firstElementChild.textContent}" is not on the paper`);
  }
  return [...new Set(wrong)];
}

// How much the colours of figures stand out: axe sees none of SVG.
function faint() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map(), rgb = (colour) => { if (!known.has(colour)) known.set(colour, paint(colour)); return [...known.get(colour)]; };
  const paint = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => { const f = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const page = rgb(getComputedStyle(document.body).backgroundColor), wrong = new Set();
  const boxes = (svg) => [...svg.querySelectorAll("path, polygon, rect")].filter((e) => getComputedStyle(e).fill !== "none" && getComputedStyle(e).stroke === "none").map((e) => { const s = getComputedStyle(e), fill = rgb(s.fill); fill[3] *= s.fillOpacity; return [e.getBoundingClientRect(), fill]; });
  for (const svg of document.querySelectorAll("main svg")) {
    if (!svg.checkVisibility()) continue; // drawn for another screen
    const under = boxes(svg);
    for (const t of svg.querySelectorAll("text")) {
      const b = t.getBoundingClientRect(), x = (b.left + b.right) / 2, y = (b.top + b.bottom) / 2;
      let back = page;
      for (const [o, fill] of under) if (x > o.left && x < o.right && y > o.top && y < o.bottom) back = fill.slice(0, 3).map((v, i) => (v * fill[3] + back[i] * (255 - fill[3])) / 255);
      const of = contrast(rgb(getComputedStyle(t).fill), back);
      if (of < 4.5) wrong.add(`"${t.textContent}" has a contrast of ${of.toFixed(1)}`);
    }
  }
  return [...wrong];
}

async function look(browser, file, view) {
  const page = await browser.newPage(), said = [];
  page.on("console", (m) => said.push(`the console says ${m.text()}`));
  page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) said.push(`it asks for ${r.url()}`); });
  await page.setBypassCSP(true); // for what looks at the page: the page itself runs no script
  await page.setViewport({ width: view.width, height: 900 });
  const devtools = await page.createCDPSession();
  await devtools.send("Emulation.setEmulatedMedia", { media: view.media, features: [{ name: "prefers-color-scheme", value: view.scheme }] });
  await page.goto("file://" + file);
  const name = `${path.basename(file, ".html")}-${view.media === "print" ? "print" : view.width + "-" + view.scheme}`;
  const pictures = process.env.MARS_PICTURES;
  if (pictures) await page.screenshot({ path: path.join(pictures, name + ".png"), fullPage: true });
  const wrong = [...said, ...await page.evaluate(missed, view), ...await page.evaluate(faint)];
  if (view.media === "screen" && axed.includes(view.width)) {
    await page.evaluate(axe);
    const found = await page.evaluate(() => axe.run());
    for (const v of found.violations) wrong.push(`axe: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120) + " " + (n.any[0]?.message || "")).join("; ")}`);
  }
  await page.close();
  return { name, wrong };
}

(async () => {
  const [program, folder, ...pages] = process.argv.slice(2);
  const browser = await puppeteer.launch({ executablePath: program, headless: true, pipe: true, userDataDir: path.join(folder, "profile"), args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--no-first-run"] });
  try {
    for (const file of pages) for (const view of views) console.log(JSON.stringify(await look(browser, path.resolve(file), view)));
  } finally {
    await browser.close();
  }
})().catch((e) => { console.error(e); process.exit(1); });
