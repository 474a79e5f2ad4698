import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { checkout } from "../../src/checkout.ts";

// A small checkout with the real launcher; its only dependency is this test's Node.
const small = testDirectory(t);

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(small, path)), { recursive: true });
  writeFileSync(join(small, path), typeof content === "string" ? content : JSON.stringify(content));
}

/** The small project, with its Node as this version. */
function writeProject(version: string): void {
  const dependencies = { node: "file:node-package" };
  write("package.json", { name: "small", version: "1.0.0", dependencies });
  write("node-package/package.json", { name: "node", version });
  write("package-lock.json", {
    name: "small",
    version: "1.0.0",
    lockfileVersion: 3,
    packages: {
      "": { name: "small", version: "1.0.0", dependencies },
      "node-package": { name: "node", version },
      "node_modules/node": { resolved: "node-package", link: true },
      "services/elsewhere": { version: "1.0.0" },
      "node_modules/only-elsewhere": { version: "1.0.0", optional: true, os: ["none"] },
    },
  });
}

interface Outcome {
  code: number;
  out: string;
  err: string;
}

function launch(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(small, "deploy/local/launch.mjs"), ...args], (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

writeProject("24.0.0");
mkdirSync(join(small, "node-package/bin"));
symlinkSync(process.execPath, join(small, "node-package/bin/node"));
mkdirSync(join(small, "deploy/local"), { recursive: true });
for (const name of ["launch.mjs", "supervise-server.mjs"])
  copyFileSync(join(checkout, "deploy/local", name), join(small, "deploy/local", name));
const program = `
  const text: string = JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), path: process.env.PATH });
  console.log(text);
  process.exit(7);`;
write("deploy/local/src/suite/check.ts", program);

await t.test("in a fresh checkout the help of the start is there at once, and nothing is installed", async (t) => {
  write("deploy/local/src/start.ts", "");
  write("deploy/local/help.txt", "what a start takes\n");
  for (const flag of ["--help", "-h"])
    t.same(await launch("start", flag), { code: 0, out: "what a start takes\n", err: "" });
  t.notOk(existsSync(join(small, "node_modules")));
});

await t.test("in a fresh checkout it installs and then runs the command, whose exit code is its own", async (t) => {
  const { code, out, err } = await launch("check", "--one", "two words");
  t.match(err, /^coffer: installing what the project needs \(npm ci\)\n/);
  t.equal(code, 7);
  const { args, cwd, path } = JSON.parse(out) as { args: string[]; cwd: string; path: string };
  t.same(args, ["--one", "two words"]);
  t.equal(cwd, small);
  t.match(path.split(":").slice(0, 2), [join(small, "node_modules/.bin"), join(small, "node_modules/node/bin")]);
});

await t.test("a command that sends messages, as tap does, is no server: it is not started again", async (t) => {
  write("deploy/local/src/suite/check.ts", `process.send?.({ event: "spawn" }, () => process.exit(7));`);
  t.same(await launch("check"), { code: 7, out: "", err: "" });
  write("deploy/local/src/suite/check.ts", program);
});

await t.test("a complete installation is not repeated", async (t) => {
  const { code, err } = await launch("check");
  t.equal(err, "");
  t.equal(code, 7);
});

await t.test("another version in the lock file is installed", async (t) => {
  writeProject("24.0.1");
  t.match((await launch("check")).err, /npm ci/);
  t.equal((await launch("check")).err, "");
});

await t.test("a package that is missing is installed", async (t) => {
  rmSync(join(small, "node_modules"), { recursive: true });
  const { code, err } = await launch("check");
  t.match(err, /npm ci/);
  t.equal(code, 7);
});

await t.test("a start that gets a signal before its handlers has stopped in order, another command not", async (t) => {
  const waits = `console.log("begun"); setInterval(() => undefined, 1000);`;
  for (const name of ["start", "suite/check"]) write(`deploy/local/src/${name}.ts`, waits);
  for (const [args, signal, expected] of [
    [["start"], "SIGTERM", 0],
    [["start"], "SIGINT", 0],
    [["start", "--reset"], "SIGTERM", 143],
    [["check"], "SIGTERM", 143],
  ] as const) {
    const child = spawn(process.execPath, [join(small, "deploy/local/launch.mjs"), ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    child.kill(signal);
    t.same(await once(child, "exit"), [expected, null], `${args.join(" ")} ${signal}`);
  }
});

await t.test("where the Node of node_modules does not run, one of the same version takes its place", async (t) => {
  write("deploy/local/src/suite/check.ts", program);
  rmSync(join(small, "node-package/bin/node"));
  writeFileSync(join(small, "node-package/bin/node"), "#!/nowhere/ld-linux\n", { mode: 0o755 });
  const { code, out } = await launch("check", "here");
  t.equal(code, 7);
  t.match(JSON.parse(out), { args: ["here"] });
});

await t.test("without a usable Node it reports what is missing", async (t) => {
  rmSync(join(small, "node-package/bin/node"));
  const { code, out, err } = await launch("check");
  t.equal(code, 1);
  t.equal(out, "");
  t.match(err, /^coffer: Node 24 is missing below node_modules: .*$/m);
});

await t.test("a command that does not exist, or is not in this checkout, is named", async (t) => {
  t.match(await launch("dance"), {
    code: 1,
    err: 'coffer: no command "dance": start, test, check, backup, restore, drill, release, images, compose, prepack, postpack, bench, cases, fuzz, hostile, mutants, pictures, alerts, check:chart, cluster, test:cluster\n',
  });
  t.match(await launch("bench"), {
    code: 1,
    err: "coffer: packages/tools/bench/src/main.ts is not in this checkout\n",
  });
});
