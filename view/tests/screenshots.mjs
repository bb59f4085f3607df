// The pictures of docs/view.md: node tests/screenshots.mjs FOLDER, with LOCKSTEP the command.
import path from "node:path";
import { browse, folder, open, run, serve } from "./command.mjs";

const into = process.argv[2];
const work = await folder();
const trace = path.join(work.path, "no-broadcast.json");
await run("check", "quick-release", "--program", "false-sharing-agent", "--fault", "no-broadcast", "--trace", trace);
const server = await serve(trace);
const browser = await browse();
const shots = [
  ["run", "#/run?trace=0&row=7", 700, async () => undefined],
  ["explore", "#/explore?system=write-through&test=mp-agent&path=0.0.1", 640, async (page) => page.locator("details.choice summary").first().click({ position: { x: 4, y: 10 } })],
  ["execution", "#/execution?test=mp-agent&model=ptx-v6.0", 640, async () => undefined],
  [
    "matrix",
    "#/matrix?system=sc&system=write-through&system=rfo&model=tso&model=ptx-v6.0&tag=quick",
    560,
    async (page) => {
      await page.getByText(/as expected, 0 differing/).waitFor({ timeout: 120000 });
      await page.getByLabel("2+2w-agent, write-through").click();
    },
  ],
  ["machine", "#/machine?system=quick-release", 760, async () => undefined],
];
try {
  for (const [name, place, height, act] of shots) {
    const page = await open(browser, server.address + place, { viewport: { width: 1280, height } });
    await page.waitForSelector("h1");
    await act(page);
    await page.waitForTimeout(500);
    await page.screenshot({ path: path.join(into, `${name}.png`) });
    await page.context().close();
  }
} finally {
  await browser.close();
  await server.stop();
  await work.remove();
}
