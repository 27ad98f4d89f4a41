// Takes a picture of the page with its example: node figure.cjs BROWSER PAGE PICTURE
const puppeteer = require("puppeteer-core");
const [, , program, file, picture] = process.argv;
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
  await browser.close();
})().catch((err) => { console.error(err); process.exit(1); });
