// Runs every npm script: plain JavaScript for any Node from 20 on, without dependencies. It installs the
// dependencies, runs the command with the Node of node_modules, and restarts a server that ends
// unexpectedly.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { delimiter, dirname, resolve } from "node:path";
import process from "node:process";
import { setInterval } from "node:timers";
import { fileURLToPath } from "node:url";
import { superviseServer } from "./supervise-server.mjs";

const checkout = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const at = (path) => resolve(checkout, path);

const commands = {
  start: { file: "deploy/local/src/start.ts" },
  test: { file: "deploy/local/src/suite/test.ts", tap: true },
  check: { file: "deploy/local/src/suite/check.ts" },
  backup: { file: "deploy/local/src/backup.ts" },
  restore: { file: "deploy/local/src/restore.ts" },
  drill: { file: "deploy/local/src/drill.ts" },
  release: { file: "deploy/release/src/main.ts" },
  images: { file: "deploy/docker/src/build.ts" },
  compose: { file: "deploy/compose/src/main.ts" },
  prepack: { file: "deploy/pack/src/prepack.ts" },
  postpack: { file: "deploy/pack/src/postpack.ts" },
  bench: { file: "packages/tools/bench/src/main.ts" },
  cases: { file: "packages/tools/cases/src/main.ts" },
  fuzz: { file: "packages/tools/fuzz/src/main.ts" },
  hostile: { file: "deploy/local/test/hostile/main.ts" },
  mutants: { file: "packages/tools/mutants/src/main.ts" },
  pictures: { file: "deploy/console/src/pictures.ts", tap: true },
  alerts: { file: "deploy/chart/test/alerts/main.ts" },
  "check:chart": { file: "deploy/chart/src/check.ts" },
  cluster: { file: "deploy/cluster/src/main.ts" },
  "test:cluster": { file: "deploy/cluster/test/main.ts" },
};

/** Ends with one line that says what is missing. */
function refuse(line) {
  process.stderr.write(`coffer: ${line}\n`);
  process.exit(1);
}

/** Runs a program to its end; its output goes to stderr, because stdout belongs to the command. */
function run(program, args) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: checkout, stdio: ["ignore", 2, 2] });
    child.once("error", () => done(127));
    child.once("exit", (code) => done(code ?? 1));
  });
}

function npm(args) {
  const own = process.env.npm_execpath;
  return own !== undefined && /\.c?js$/.test(own) ? run(process.execPath, [own, ...args]) : run("npm", args);
}

/**
 * Whether node_modules matches the lock file. Ignores workspaces that are not in this checkout.
 */
function isInstalled() {
  if (!existsSync(at("node_modules/.package-lock.json"))) return false;
  const packagesOf = (path) => JSON.parse(readFileSync(at(path), "utf8")).packages ?? {};
  const installed = packagesOf("node_modules/.package-lock.json");
  return Object.entries(packagesOf("package-lock.json")).every(([path, wanted]) => {
    const workspace = wanted.link === true ? wanted.resolved : path.split("/node_modules/")[0];
    if (!workspace.startsWith("node_modules/") && !existsSync(at(workspace))) return true;
    const present = installed[path];
    // Missing optional packages are for other platforms.
    if (present === undefined) return path === "" || wanted.optional === true;
    return present.version === wanted.version && (wanted.link !== true || existsSync(at(path)));
  });
}

/** Whether the test runner was built with the plugins of .taprc, which is done once per installation. */
function isTapBuilt() {
  const built = at("node_modules/@tapjs/test/test-built/dist/esm/index.js");
  if (!existsSync(at(".tap/plugins")) || !existsSync(built)) return false;
  // The build has absolute links: a moved or copied checkout is built again.
  const linked = at(".tap/plugins/node_modules/@tapjs/core");
  if (existsSync(dirname(linked)) && realPath(linked) !== realPath(at("node_modules/@tapjs/core"))) return false;
  const text = readFileSync(built, "utf8");
  const off = [...readFileSync(at(".taprc"), "utf8").matchAll(/"!(@tapjs\/[a-z-]+)"/g)];
  return off.every(([, name]) => !text.includes(`"${name}"`));
}

function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return null; // a link to nothing
  }
}

async function prepare({ tap }) {
  if (!isInstalled()) {
    process.stderr.write("coffer: installing what the project needs (npm ci)\n");
    const code = await npm(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
    if (code !== 0) refuse("npm ci failed: the reason stands above");
  }
  let node = at("node_modules/node/bin/node");
  if (!existsSync(node)) await npm(["rebuild", "node", "--ignore-scripts=false"]);
  if (!existsSync(node)) refuse("Node 24 is missing below node_modules: run npm ci with install scripts allowed");
  // Its binary needs glibc, which Alpine does not have.
  if (spawnSync(node, ["--version"], { stdio: "ignore" }).status !== 0) {
    if (Number(process.versions.node.split(".")[0]) < 24)
      refuse(`Node 24 of node_modules does not run on this system, and this is ${process.version}: install Node 24`);
    node = process.execPath;
  }
  if (tap && !isTapBuilt()) {
    process.stderr.write("coffer: preparing the test runner (tap build)\n");
    // Links of an earlier place stop the build.
    rmSync(at(".tap"), { recursive: true, force: true });
    const code = await run(node, [at("node_modules/tap/dist/esm/run.mjs"), "build"]);
    if (code !== 0) refuse("tap build failed: the reason stands above");
  }
  return node;
}

async function main() {
  const [name = "", ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) refuse(`no command "${name}": ${Object.keys(commands).join(", ")}`);
  if (Number(process.versions.node.split(".")[0]) < 20)
    refuse(`Node 20 or newer is needed, this is ${process.version}`);
  if (!existsSync(at(command.file))) refuse(`${command.file} is not in this checkout`);
  // An installation takes a minute. After it, the command prints its own help.
  if (name === "start" && args.some((each) => each === "--help" || each === "-h") && !isInstalled()) {
    process.stdout.write(readFileSync(at("deploy/local/help.txt"), "utf8"));
    return;
  }
  const node = await prepare(command);
  const path = [at("node_modules/.bin"), at("node_modules/node/bin"), process.env.PATH ?? ""].join(delimiter);
  // Node caches compiled code: the next start neither compiles it nor holds its source in memory.
  const compiled = process.env.NODE_COMPILE_CACHE ?? at("node_modules/.cache/coffer/compiled");
  let child;
  const begin = (list, more = {}) => {
    child = spawn(node, [at(command.file), ...list], {
      cwd: checkout,
      // The closed channel tells the command that the launcher has ended.
      stdio: ["inherit", "inherit", "inherit", "ipc"],
      env: { ...process.env, PATH: path, NODE_COMPILE_CACHE: compiled, ...more },
    });
    child.once("error", (error) => refuse(`${node} cannot be run: ${error.message}`));
    return child;
  };
  // Ctrl-C in a terminal reaches both processes; the command ignores the second one.
  const passed = new Set();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => {
      passed.add(signal);
      child?.kill(signal);
    });
  // npm itself may be killed; it starts us by exec, so that it is our parent and passes signals on.
  const parent = process.ppid;
  const orphaned = () => {
    if (process.ppid === parent) return;
    passed.add("SIGTERM");
    child?.kill("SIGTERM");
  };
  if (process.env.npm_lifecycle_event !== undefined) setInterval(orphaned, 500).unref();
  const start = (serving) =>
    serving === null
      ? begin(args)
      : begin(["--restarted"], process.env.COFFER_PORT === "0" ? { COFFER_PORT: `${serving.port}` } : {});
  const { exitCode, signal } = await superviseServer(start, () => passed.size > 0);
  // A start that ends by the signal itself had not begun anything: it counts as stopped in order, except
  // one that was to empty its data directory first.
  const stopped = name === "start" && !args.includes("--reset") && passed.has(signal);
  process.exitCode = stopped ? 0 : exitCode;
}

await main();
