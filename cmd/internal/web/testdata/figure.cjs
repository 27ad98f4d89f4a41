// Takes pictures of the page with its example, and of its rows to label: node figure.cjs BROWSER PAGE PICTURE PICTURE
const puppeteer = require("puppeteer-core");
const [, , program, file, picture, rows] = process.argv;
(async () => {
  const browser = await puppeteer.launch({ executablePath: require("node:child_process").execSync(`command -v ${program}`).toString().trim(), args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.setViewport({ width: 900, height: 1250 });
  await page.goto("file://" + file);
  for (const button of ["#example", "#run"]) {
    await page.click(button);
    await page.waitForFunction(() => !document.body.classList.contains("busy"), { timeout: 600000 });
  }
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  await page.screenshot({ path: picture });
  await page.click("#draw");
  await page.waitForFunction(() => document.activeElement.id === "panel", { timeout: 600000 });
  for (let i = 0; i < 20; i++) await page.keyboard.press(await page.evaluate(() => String(1 + [...document.querySelectorAll("#classes button")].findIndex((b) => document.getElementById("guessed").textContent.includes(`: ${b.value},`)))));
  await page.waitForFunction(() => document.getElementById("narrow").textContent.startsWith("20 ") && document.getElementById("counted").ariaBusy === "false", { timeout: 600000 });
  const { x, y, width, height } = await (await page.$("#own")).boundingBox(), margin = 16;
  await page.screenshot({ path: rows, clip: { x: x - margin, y: y + (await page.evaluate(() => scrollY)) - margin, width: width + 2 * margin, height: height + 2 * margin } });
  await browser.close();
})().catch((err) => { console.error(err); process.exit(1); });
