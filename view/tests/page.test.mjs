// Each view in a real browser: opened, clicked through, and held against what the command prints.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { browse, folder, open, run, serve } from "./command.mjs";

let browser;
let work;
let traces;

before(async () => {
  browser = await browse();
  work = await folder();
  const file = (name) => path.join(work.path, name);
  traces = { violated: file("violated.json"), other: file("other.json"), lasso: file("lasso.json") };
  const check = (trace, ...more) => run("check", "quick-release", "--program", "false-sharing-agent", "--trace", trace, ...more);
  assert.equal((await check(traces.violated, "--fault", "no-broadcast")).status, 1);
  assert.equal((await check(traces.other, "--fault", "fill-overtaken")).status, 1);
  const lasso = await run(
    ...["progress", "test-and-set", "--with", "rounds=0", "--scheduler", "obe", "--situation", "resident", "--trace", traces.lasso],
  );
  assert.equal(lasso.status, 1, lasso.stderr);
});
after(async () => {
  await browser?.close();
  await work?.remove();
});

/** Runs a test on a page of a command that is begun for it. */
async function on(words, place, act, options) {
  const server = await serve(...words);
  try {
    const page = await open(browser, server.address + place, options);
    await act(page, server);
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  } finally {
    await server.stop();
  }
}

const rows = (page) => page.locator("ol.rows > li");
/** The rules that `lockstep replay` prints: numbers, of the first rule of each step, and names. */
async function replayed(trace) {
  const { stdout } = await run("replay", trace);
  const lines = stdout.split("\n").map((line) => /^(?: {0,3}(\d+)\. | {6})(\S.*?)(?: {2}\[.*\])?$/.exec(line));
  return lines.filter(Boolean).map(([, number, rule]) => [number ?? "", rule]);
}

describe("a run", () => {
  test("has the rules that replay prints, in their order, and ends as it says", async () => {
    await on([traces.violated], "", async (page) => {
      await page.waitForSelector("ol.rows");
      assert.match(await page.textContent(".lead"), /violated: a copy in rL1 is current/);
      const printed = await replayed(traces.violated);
      const shown = await rows(page).evaluateAll((all) =>
        all.map((row) => [row.querySelector(".number").textContent, row.querySelector(".rulename").textContent]),
      );
      assert.deepEqual(shown, printed);
      // It opens at the last one, whose changes stand beside it.
      assert.equal(await page.locator("li[aria-selected=true] .rulename").textContent(), printed.at(-1)[1]);
      const { stdout } = await run("replay", traces.violated);
      const changes = await page.locator("table.changes tr").evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)),
      );
      for (const [field, before, , after] of changes) {
        const line = stdout.split("\n").findLast((one) => one.trim().startsWith(field));
        assert.match(line, new RegExp(`${before} -> ${after}$`));
      }
    });
  });

  test("is stepped, scrubbed and filtered, and the address says where one is", async () => {
    await on([traces.violated], "#/run?trace=0&row=3", async (page) => {
      await page.waitForSelector("li[aria-selected=true]");
      const at = () => page.evaluate(() => Number(new URLSearchParams(location.hash.split("?")[1]).get("row")));
      assert.equal(await at(), 3);
      await page.keyboard.press("ArrowRight");
      await page.waitForFunction(() => location.hash.includes("row=4"));
      await page.keyboard.press("k");
      await page.keyboard.press("Home");
      await page.waitForFunction(() => location.hash.includes("row=0"));
      await page.locator("input[type=range]").fill("10");
      await page.waitForFunction(() => location.hash.includes("row=10"));
      const all = await rows(page).count();
      await page.getByRole("button", { name: "L1 1", exact: true }).click();
      const some = await rows(page).count();
      assert.ok(some > 1 && some < all, `${some} of ${all}`);
      await page.getByRole("button", { name: "L1 1", exact: true }).click();
      await page.keyboard.press("/");
      await page.keyboard.type("fill reaches");
      await page.waitForFunction(() => document.querySelectorAll("ol.rows > li").length < 5);
      assert.match(await rows(page).first().textContent(), /fill reaches/);
    });
  });

  test("shows the whole state, where messages went, the rule in full, and the machine at work", async () => {
    await on([traces.violated], "", async (page) => {
      await rows(page).filter({ hasText: "wL1 replaces a block (cu 0" }).first().click();
      await page.waitForSelector("p.message");
      assert.match(await page.textContent("p.message"), /sends on memory\.link1\(0\): kind write/);
      await page.getByRole("button", { name: /taken by “L2 takes a write/ }).click();
      await page.waitForFunction(() => /L2 takes a write/.test(document.querySelector("li[aria-selected=true]").textContent));
      await page.getByText("the rule in full").click();
      assert.match(await page.textContent("details.rule pre"), /takes {2}memory\.link1\(cu\)/);
      await page.getByRole("tab", { name: "state" }).click();
      await page.getByLabel("Filter fields").fill("link1(0).count");
      assert.equal(await page.textContent(".fields .value"), "0");
      await page.getByRole("tab", { name: "machine" }).click();
      assert.equal(await page.textContent("svg.machine .unit.live text"), "L2");
      await page.getByRole("tab", { name: "program" }).click();
      assert.equal(await page.locator("table.program th").count(), 2);
    });
  });

  test("that goes round for ever is drawn as a loop, and stepping goes round", async () => {
    await on([traces.lasso], "", async (page) => {
      await page.waitForSelector("path.loop");
      assert.match(await page.textContent(".lead"), /go round for ever/);
      const last = await page.evaluate(() => location.hash);
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowRight");
      await page.waitForFunction((hash) => location.hash !== hash, last);
      assert.match(await page.locator("li[aria-selected=true]").getAttribute("class"), /looped/);
    });
  });

  test("stands beside another, and where they part is shown", async () => {
    await on([traces.violated, traces.other], "", async (page) => {
      await page.waitForSelector(".two");
      const said = await page.textContent(".lead");
      const parts = Number(/go along for (\d+) rules/.exec(said)?.[1] ?? 0);
      const [left, right] = await Promise.all([replayed(traces.violated), replayed(traces.other)]);
      for (let i = 0; i < parts; ++i) assert.equal(left[i][1], right[i][1]);
      assert.ok(parts < Math.min(left.length, right.length));
      assert.equal(await page.locator(".two ol.rows").count(), 2);
    });
  });
});

describe("exploring", () => {
  const place = "#/explore?system=write-through&test=mp-agent";
  test("goes on by what is enabled, back by undo, and to an outcome that the command knows", async () => {
    await on([], "#/explore?system=write-through&test=sb-agent", async (page) => {
      await page.waitForSelector(".choices");
      const before = await rows(page).count();
      await page.locator(".choices button").first().click();
      await page.waitForFunction((count) => document.querySelectorAll("ol.rows > li").length > count, before);
      await page.keyboard.press("u");
      await page.waitForFunction((count) => document.querySelectorAll("ol.rows > li").length === count, before);
      await page.keyboard.press("1");
      await page.waitForFunction(() => location.hash.includes("path=0"));
      const ends = new Set();
      for (let i = 0; i < 60; ++i) {
        const end = page.locator(".verdict.good");
        if (await end.count()) {
          ends.add((await end.textContent()).replace(/^ends with /, ""));
          break;
        }
        const count = await rows(page).count();
        await page.locator(".choices button").first().click();
        await page.waitForFunction((old) => document.querySelectorAll("ol.rows > li").length > old, count);
      }
      const { stdout } = await run("litmus", "sb-agent", "--on", "write-through");
      for (const end of ends) assert.ok(stdout.includes(`\n${end}\n`), end);
      assert.equal(ends.size, 1);
    });
  });

  test("jumps to a state in which a condition holds, and says where one cannot be read", async () => {
    await on([], place, async (page) => {
      const condition = page.getByLabel("Condition");
      await condition.fill("P1:r0 = 1 /\\ end");
      await condition.press("Enter");
      await page.waitForSelector(".verdict.good");
      assert.match(await page.textContent(".verdict.good"), /ends with P1:r0=1; P1:r1=1;/);
      await page.getByRole("button", { name: "begin again" }).click();
      await page.waitForSelector(".choices");
      await condition.fill("P1:r0 = 1 /\\ P1:r1 = 0 /\\ end");
      await condition.press("Enter");
      await page.getByText(/^Nowhere: none of the \d+ states/).waitFor();
      await condition.fill("memory.lnk1(0).count = 1");
      await condition.press("Enter");
      await page.getByText("did you mean 'memory.link1(0).count'?").waitFor();
      // What a request is refused is logged by the browser itself.
      page.wrong = page.wrong.filter((text) => !text.includes("400"));
    });
  });

  test("is brought back by its link, and its trace by replay", async () => {
    await on([], `${place}&path=0.0.1`, async (page, server) => {
      await page.waitForSelector(".choices");
      const shown = await rows(page).allTextContents();
      const other = await open(browser, server.address + (await page.evaluate(() => location.hash)));
      await other.waitForSelector(".choices");
      assert.deepEqual(await rows(other).allTextContents(), shown);
      await other.context().close();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "save the trace" }).click()]);
      const file = path.join(work.path, "saved.json");
      await download.saveAs(file);
      const again = await run("replay", file);
      assert.equal(again.status, 0, again.stdout);
      assert.match(again.stdout, new RegExp(`As recorded: ${shown.length - 1} steps`));
    });
    // A link is a word of the command line, too.
    await on([`${place}&path=0.0.1&digest=00000000`], "", async (page) => {
      await page.getByText("This link led to another state when it was made").waitFor();
      assert.equal(await page.evaluate(() => location.hash.startsWith("#/explore")), true);
    });
  });

  test("goes on from a row of a run", async () => {
    await on([traces.violated], "#/run?trace=0&row=8", async (page) => {
      await page.getByRole("link", { name: "explore from here" }).click();
      await page.waitForSelector(".choices");
      assert.ok((await rows(page).count()) >= 9);
    });
  });
});

describe("an execution", () => {
  test("that is forbidden has the chain that the command prints, unfolded by definitions", async () => {
    await on([], "#/execution?test=mp-agent&model=ptx-v6.0", async (page) => {
      await page.waitForSelector(".chain");
      const document = JSON.parse((await run("view", "mp-agent", "--model", "ptx-v6.0", "--json")).stdout).documents[0];
      const forbidden = document.outcomes.find((one) => !one.allowed && one.satisfies);
      assert.equal(await page.textContent(".chain"), forbidden.candidate.failures[0].chain);
      assert.match(await page.textContent(".outcome.selected"), /forbidden/);
      const tree = await page.textContent(".tree");
      for (const name of ["causality", "base-causality", "synchronizes", "rf"]) assert.ok(tree.includes(name), name);
      const bold = await page.locator(".edge.cycle text").allTextContents();
      assert.deepEqual(bold.sort(), ["fr", "po", "po", "rf"]);
    });
  });

  test("shows relations that are switched on, and other outcomes", async () => {
    await on([], "#/execution?test=mp-relaxed-agent&model=rmo", async (page) => {
      await page.waitForSelector("svg.execution");
      const count = await page.locator(".edge").count();
      await page.getByRole("button", { name: "po", exact: true }).click();
      await page.waitForFunction((before) => document.querySelectorAll(".edge").length < before, count);
      await page.locator(".outcome").nth(1).click();
      await page.waitForFunction(() => location.hash.includes("outcome=1"));
      const { stdout } = await run("litmus", "mp-relaxed-agent", "--model", "rmo", "--json");
      const words = JSON.parse(stdout);
      assert.match(await page.textContent(".lead"), new RegExp(JSON.stringify(words).match(/"observation":"(\w+)"/)[1]));
    });
  });
});

describe("a matrix", () => {
  test("fills with the words of the command's table, and a cell leads to a run", async () => {
    await on([], "#/matrix?system=sc&system=write-through&model=tso&tag=quick", async (page) => {
      await page.getByText(/as expected, 0 differing/).waitFor({ timeout: 60000 });
      await page.getByLabel("Filter tests").fill("mp-");
      const table = await page.locator("table.matrix tbody tr").evaluateAll((all) =>
        all.map((row) => [row.querySelector("th").textContent, ...[...row.querySelectorAll("td")].map((cell) => cell.textContent)]),
      );
      assert.ok(table.length > 3);
      const names = table.map(([name]) => name);
      const { stdout } = await run("litmus", ...names, "--on", "sc,write-through", "--summary-only");
      for (const [name, sc, through] of table) {
        const line = stdout.split("\n").find((one) => one.startsWith(`${name} `));
        assert.deepEqual(line.trim().split(/ +/).slice(1, 3), [sc, through], name);
      }
      await page.getByLabel("mp-agent, write-through").click();
      await page.getByRole("link", { name: "P1:r0=1; P1:r1=1;" }).click();
      await page.waitForSelector("ol.rows");
      assert.match(await page.textContent(".lead"), /ends with P1:r0=1; P1:r1=1;/);
    });
  });
});

describe("a machine", () => {
  test("has the units and rules that explain lists", async () => {
    await on(["quick-release"], "", async (page) => {
      await page.waitForSelector("svg.machine");
      const explained = JSON.parse((await run("explain", "quick-release", "--json")).stdout);
      const units = [...new Set(explained.rules.map((rule) => rule.unit))];
      const drawn = await page.locator("svg.machine .unit:not(.client) > text:first-of-type").allTextContents();
      assert.deepEqual(drawn.sort(), units.sort());
      assert.equal(await page.locator("section[aria-label=Rules] details").count(), explained.rules.length);
      await page.getByRole("button", { name: /^L2/ }).click();
      const some = explained.rules.filter((rule) => rule.unit === "L2").length;
      await page.waitForFunction((count) => document.querySelectorAll("section[aria-label=Rules] details").length === count, some);
    });
  });
});

describe("the beginning", () => {
  test("leads to systems, tests and models by filters", async () => {
    await on([], "", async (page) => {
      await page.getByLabel("Filter tests").fill("iriw-agent");
      await page.getByRole("link", { name: "iriw-agent", exact: true }).click();
      await page.getByRole("button", { name: "write-through", exact: true }).click();
      await page.getByText(/never, \d+ states, complete/).waitFor({ timeout: 60000 });
      await page.getByRole("link", { name: "rc11" }).click();
      await page.waitForSelector("svg.execution");
    });
  });
});

describe("exported", () => {
  test("a page needs no command", async () => {
    const file = path.join(work.path, "all.html");
    const made = await run("view", traces.violated, "mp-agent", "write-through", "--on", "quick-release", "--model", "sc", "--export", file);
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, /^5 documents written to/);
    const page = await open(browser, `file://${file}`, { offline: true });
    assert.equal(await page.locator("main li").count(), 5);
    const links = await page.locator("main li a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    for (const link of links) {
      await page.goto(`file://${file}${link}`);
      await page.waitForSelector("h1");
      await page.locator("ol.rows, svg.machine, svg.execution").first().waitFor();
    }
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    const html = await readFile(file, "utf8");
    assert.doesNotMatch(html.replace(/http:\/\/www\.w3\.org\S*/g, ""), /(src|href)="https?:/);
  });

  test("a matrix, too", async () => {
    const file = path.join(work.path, "matrix.html");
    const made = await run("view", "--matrix", "mp-agent", "sb-agent", "--on", "sc,rfo", "--model", "sc", "--export", file);
    assert.equal(made.status, 0, made.stderr);
    const page = await open(browser, `file://${file}`);
    assert.deepEqual(await page.locator("td").allTextContents(), ["never", "never", "never", "never", "never", "never"]);
    await page.context().close();
  });
});

describe("what is wrong", () => {
  test("is said by the command before anything is served", async () => {
    for (const [words, said] of [
      [["mp-agnt"], /mp-agent/],
      [["quick-relase/x"], /error/],
      [[path.join(work.path, "none.json")], /no such file/],
      [["mp-agent", "--on", "quick-relase"], /did you mean 'quick-release'/],
      [["mp-agent", "--model", "ptx"], /unknown model 'ptx'/],
      [["--matrix"], /--matrix of what/],
      [["--export", "/nowhere/x.html", "mp-agent", "--on", "sc"], /nowhere/],
      [["--export", path.join(work.path, "x.html")], /nothing to write/],
      [["cpcoh", "mp-agent", "--on", "cpcoh", "--json"], /cpcoh does not take mp-agent/],
    ]) {
      const answer = await run("view", "--no-open", ...words);
      assert.equal(answer.status, 2, words.join(" "));
      assert.match(answer.stderr, said);
    }
    const broken = path.join(work.path, "broken.json");
    await writeFile(broken, (await readFile(traces.violated, "utf8")).slice(0, 2000));
    assert.match((await run("view", broken)).stderr, /not a trace/);
  });

  test("a port in use, a request without the token, another host, a path outside", async () => {
    const server = await serve();
    try {
      const { port, origin } = new URL(server.address);
      const second = await run("view", "--no-open", "--port", port);
      assert.equal(second.status, 2);
      assert.match(second.stderr, /cannot be listened at/);
      const status = async (address, options) => (await fetch(address, options)).status;
      assert.equal(await status(`${origin}/`), 403);
      assert.equal(await status(`${origin}/api/machine?system=sc`), 403);
      assert.equal(await status(`${origin}/${"0".repeat(32)}/`), 403);
      assert.equal(await status(`${server.address}%2e%2e%2f%2e%2e%2fetc/passwd`), 404);
      assert.equal(await status(`${server.address}api/run?trace=0`), 400);
      assert.equal(await status(`${server.address}api/explore`, { method: "POST", body: "x".repeat(1 << 21) }), 413);
      const page = await fetch(server.address);
      assert.match(page.headers.get("content-security-policy"), /default-src 'none'/);
    } finally {
      const end = await server.stop();
      assert.equal(end.code, 0);
    }
  });

  test("a browser that goes away in the middle of a search, and two at once", async () => {
    await on([], "#/explore?system=quick-release&test=mp-agent", async (page, server) => {
      await page.waitForSelector(".choices");
      const gone = await open(browser, `${server.address}#/explore?system=quick-release&test=iriw-agent`);
      await gone.waitForSelector(".choices");
      await gone.getByLabel("Condition").fill("deadlock");
      await gone.getByLabel("Condition").press("Enter");
      await gone.getByText("searching").waitFor();
      await gone.context().close();
      await page.locator(".choices button").first().click();
      await page.waitForFunction(() => location.hash.includes("path=0"));
    });
  });

  test("a command that has ended is told from one that is slow", async () => {
    const server = await serve();
    const page = await open(browser, server.address);
    await page.waitForSelector("table.list");
    await server.stop();
    await page.getByRole("link", { name: "sc", exact: true }).first().click();
    await page.getByText("The command does not answer: has it ended?").waitFor();
    await page.context().close();
  });
});

describe("the page", () => {
  const places = [
    "#/home",
    "#/run?trace=0&row=6",
    "#/runs?left=0&right=1",
    "#/explore?system=quick-release&test=mp-agent&path=0.0",
    "#/execution?test=mp-agent&model=ptx-v6.0",
    "#/matrix?system=sc&system=write-through&model=tso&test=mp-agent",
    "#/machine?system=rfo",
    "#/test?name=mp-agent&system=write-through",
  ];
  for (const width of [1280, 390]) {
    test(`is readable at ${width} pixels, in the dark as well`, async () => {
      await on([traces.violated, traces.other], "#/home", async (page, server) => {
        for (const place of places) {
          await page.goto(server.address + place);
          await page.waitForSelector("h1, h2");
          await page.waitForFunction(() => !document.querySelector(".waiting"));
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.ok(overflow <= 0, `${place} is ${overflow} pixels too wide`);
          const dim = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
          assert.match(dim, /rgb\(2\d, 2\d, 2\d\)|rgb\(20, 24, 28\)/);
        }
      }, { viewport: { width, height: 844 }, colorScheme: "dark" });
    });
  }

  test("can be worked with from the keyboard alone", async () => {
    await on([], "#/home", async (page) => {
      await page.waitForSelector("h2");
      await page.waitForTimeout(300);
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("/");
      await page.keyboard.type("sb-agent");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => location.hash === "#/test?name=sb-agent");
    });
  });
});
