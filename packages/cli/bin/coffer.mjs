#!/usr/bin/env node
// Plain JavaScript for any Node: starts the command in this process when it can run TypeScript, else with the
// checkout's own Node.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import * as module from "node:module";
import { fileURLToPath } from "node:url";
import { exitCodeOf, passSignals } from "./pass-signals.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const checkoutNode = here("../../../node_modules/node/bin/node");

// Node runs TypeScript from 22 on, and from 24 on without saying each time that it is new.
const runsHere = process.features.typescript === "strip" || process.features.typescript === "transform";
const runsThere = existsSync(checkoutNode);

if (runsHere && (Number.parseInt(process.versions.node) >= 24 || !runsThere)) {
  const modules = here("../../../node_modules");
  if (existsSync(modules)) module.enableCompileCache?.(`${modules}/.cache/coffer/compiled`);
  await import("../src/coffer.ts");
} else if (runsThere) {
  const stopPassing = passSignals(() => child);
  // Said again, so that NODE_OPTIONS cannot turn it off there too.
  const args = ["--experimental-strip-types", fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(checkoutNode, args, { stdio: "inherit" });
  child.on("error", (error) => {
    console.error(`coffer: ${checkoutNode} cannot be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    stopPassing();
    process.exitCode = exitCodeOf(code, signal);
  });
} else {
  console.error(`coffer: needs Node 24, this is ${process.version}; run npm install in the checkout, which brings it`);
  process.exitCode = 1;
}
