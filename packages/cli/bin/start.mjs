// Plain JavaScript for any Node: starts the command in this process when it was compiled or Node can run TypeScript, else
// with the checkout's own Node.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import * as module from "node:module";
import { fileURLToPath } from "node:url";
import { exitCodeOf, passSignals } from "./pass-signals.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const checkoutNode = here("../../../node_modules/node/bin/node");
const compiled = here("../dist/coffer.js");
const oldestCompiled = [20, 19];

const [marker, ...words] = process.argv.slice(2);
if (marker === "=") process.argv.splice(2, Infinity, ...words.map((word) => word.slice(1)));

// Node runs TypeScript from 22 on, and from 24 on without saying each time that it is new.
const runsHere = process.features.typescript === "strip" || process.features.typescript === "transform";
const runsThere = existsSync(checkoutNode);

if (existsSync(compiled) && !runsThere) {
  if (isOlder(oldestCompiled)) fail(`needs Node ${oldestCompiled.join(".")} or later, this is ${process.version}`);
  else await import("../dist/coffer.js");
} else if (runsHere && (Number.parseInt(process.versions.node) >= 24 || !runsThere)) {
  const modules = here("../../../node_modules");
  if (existsSync(modules)) module.enableCompileCache?.(`${modules}/.cache/coffer/compiled`);
  await import("../src/coffer.ts");
} else if (runsThere) {
  const stopPassing = passSignals(() => child);
  // Said again, so that NODE_OPTIONS cannot turn it off there too.
  const node = ["--experimental-strip-types", "--", here("./coffer.mjs")];
  const child = spawn(checkoutNode, [...node, "=", ...process.argv.slice(2).map((word) => `=${word}`)], {
    stdio: "inherit",
  });
  child.on("error", (error) => fail(`${checkoutNode} cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    stopPassing();
    process.exitCode = exitCodeOf(code, signal);
  });
} else fail(`needs Node 24, this is ${process.version}; run npm install in the checkout, which brings it`);

function isOlder([major, minor]) {
  const [ours, minorOfOurs] = process.versions.node.split(".").map(Number);
  return ours < major || (ours === major && minorOfOurs < minor);
}

function fail(why) {
  console.error(`coffer: ${why}`);
  process.exitCode = 1;
}
