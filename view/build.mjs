// Builds page.html: one file with everything in it. `node build.mjs --check` builds it anew and compares.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import path from "node:path";

const here = path.dirname(fileURLToPath(import.meta.url));
const bundle = async (entry) => {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "error",
  });
  return result.outputFiles[0].text.trim();
};

// Nothing in a script may end it.
const script = (await bundle("src/main.tsx")).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = await bundle("src/style.css");
const packages = JSON.parse(await readFile(path.join(here, "package.json"), "utf8")).dependencies;
const parts = Object.entries(packages).map(([name, version]) => `${name} ${version}`).join(", ");
const page = `<!doctype html>
<!-- Built from the other files of this folder: see README.md. Contains ${parts} (MIT). -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lockstep</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<script id="lockstep-data" type="application/json">null</script>
<script>${script}</script>
</body>
</html>
`;

const file = path.join(here, "page.html");
if (process.argv.includes("--check")) {
  const checkedIn = await readFile(file, "utf8");
  if (checkedIn !== page) {
    console.error("view/page.html is not what its sources build: run `npm run build` in view/ and commit it");
    process.exit(1);
  }
  console.log(`view/page.html is what its sources build, ${page.length} bytes`);
} else {
  await writeFile(file, page);
  console.log(`view/page.html written, ${page.length} bytes`);
}
