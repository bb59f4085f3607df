// The command, and a browser in front of it. LOCKSTEP is the command to test, CHROMIUM the browser.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const here = path.dirname(fileURLToPath(import.meta.url));
export const command = process.env.LOCKSTEP ?? path.join(here, "../../build/bin/lockstep");

/** What the command prints, and its exit status. */
export async function run(...words) {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, words, { maxBuffer: 1 << 28 });
    return { status: 0, stdout, stderr };
  } catch (error) {
    if (error.code === undefined || typeof error.code === "string") throw error;
    return { status: error.code, stdout: error.stdout, stderr: error.stderr };
  }
}

/** `lockstep view` with these words: its address, and how to end it. */
export async function serve(...words) {
  const child = spawn(command, ["view", "--no-open", ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal, said })));
  const address = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      const found = /^(http:\/\/\S+)\n/.exec(text);
      if (found) resolve(found[1]);
    });
    void ended.then(({ code }) => reject(new Error(`the command ended with ${code}: ${said}`)));
  });
  return {
    address,
    process: child,
    stop: async () => {
      child.kill("SIGINT");
      return ended;
    },
  };
}

export async function folder() {
  const made = await mkdtemp(path.join(tmpdir(), "lockstep-view-"));
  return { path: made, remove: () => rm(made, { recursive: true }) };
}

export function browse() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A page that notes what goes wrong in it. */
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.wrong.push(message.text()));
  await page.goto(address);
  return page;
}
