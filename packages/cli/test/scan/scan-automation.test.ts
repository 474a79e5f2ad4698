import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { command } from "../command.ts";
import { newRepository, tokenOf } from "./scan-repository.ts";

const yaml = createRequire(import.meta.url)("yaml") as { parse: (text: string) => unknown };
const root = resolve(import.meta.dirname, "../../../..");
const folder = testDirectory(t);
const git = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  shell?: string;
  "working-directory"?: string;
  env?: Record<string, string>;
}

interface Action {
  inputs: Record<string, { default: string }>;
  runs: { using: string; steps: Step[] };
}

/** The checkout as GitHub downloads it for an action: without what npm installed. */
function checkoutOfAction(): string {
  const target = join(folder, "action");
  const left = new Set(["node_modules", ".git", ".tap", ".coffer", "bench", "dist"]);
  cpSync(root, target, { recursive: true, filter: (source) => source === root || !left.has(basename(source)) });
  return target;
}

const actionPath = checkoutOfAction();
const action = yaml.parse(readFileSync(join(actionPath, "action.yml"), "utf8")) as Action;

const mostMilliseconds = 300_000;
let isInstalled = false;

/**
 * Runs the steps of the action as GitHub's runner does, up to the first that fails. What npm
 * installs stays for later runs.
 */
function runAction(workspace: string, given: Record<string, string>): { code: number | null; output: string } {
  const inputs = Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default]));
  const values: Record<string, string> = { "github.action_path": actionPath };
  for (const [name, value] of Object.entries({ ...inputs, ...given })) values[`inputs.${name}`] = value;
  const filled = (text: string): string =>
    text.replace(/\$\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`the action uses ${name}`);
      return value;
    });
  let output = "";
  for (const { name, uses, run, shell, env = {}, "working-directory": place = "." } of action.runs.steps) {
    // Node 24 is the one that runs this test.
    if (uses !== undefined || (name === "Install" && isInstalled)) continue;
    const step = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, filled(text)]));
    const { status, stdout, stderr } = spawnSync(shell ?? "", ["-e", "-c", filled(run ?? "")], {
      cwd: resolve(workspace, filled(place)),
      env: {
        ...process.env,
        NODE_OPTIONS: "",
        PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
        npm_config_prefer_offline: "true",
        ...git,
        ...step,
      },
      encoding: "utf8",
      timeout: mostMilliseconds,
    });
    output += stdout + stderr;
    if (status !== 0) return { code: status, output };
    if (name === "Install") isInstalled = true;
  }
  return { code: 0, output };
}

await t.test("the action installs the command and annotates what it finds, in the folder that is given", (t) => {
  t.equal(action.runs.using, "composite");
  const { root: workspace, commit } = newRepository(join(folder, "of-action"));
  commit("clean", { "src/a.ts": "export const a = 1;\n" });
  const clean = runAction(workspace, {});
  t.equal(clean.code, 0, clean.output);
  if (!isInstalled) {
    t.end();
    return;
  }
  commit("planted", { "src/a.ts": `export const a = "${tokenOf(1)}";\n`, "other/b.ts": "", "*.md": "" });
  const found = runAction(workspace, {});
  t.equal(found.code, 1);
  t.match(found.output, /^::error file=src\/a\.ts,line=1,/m);
  t.notOk(found.output.includes(tokenOf(1)));
  t.equal(runAction(workspace, { directory: "other" }).code, 0);
  commit("removed", { "src/a.ts": "export const a = 2;\n" });
  t.equal(runAction(workspace, {}).code, 0);
  const range = runAction(workspace, { args: "--range HEAD~2..HEAD --format github" });
  t.equal(range.code, 1);
  t.match(range.output, /^::error file=src\/a\.ts,line=1,/m);
  t.equal(runAction(workspace, { args: "no-such-path" }).code, 2);
  // A star in the arguments is the path that is given, and no pattern of the shell.
  t.match(runAction(workspace, { args: "*.md" }), { code: 0, output: /in 1 input/ });
  t.end();
});

interface Hook {
  id: string;
  name: string;
  entry: string;
  language: string;
  pass_filenames: boolean;
  always_run: boolean;
}

await t.test("the hook of pre-commit stops a commit with a credential and lets others pass", (t) => {
  const hooks = yaml.parse(readFileSync(join(root, ".pre-commit-hooks.yaml"), "utf8")) as Hook[];
  const [hook, ...others] = hooks;
  t.same(others, []);
  t.match(hook, { id: "coffer-scan", name: /./, language: "system", pass_filenames: false, always_run: true });
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(command, join(bin, "coffer"));
  const { root: workspace, git: inRepository, write, commit } = newRepository(join(folder, "of-hook"));
  commit("first", { "a.ts": "" });
  const run = () => {
    const [program = "", ...args] = (hook?.entry ?? "").split(" ");
    return spawnSync(program, args, {
      cwd: workspace,
      env: { PATH: `${bin}${delimiter}${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`, ...git },
      encoding: "utf8",
    });
  };
  write("a.ts", `const a = "${tokenOf(2)}";\n`);
  t.equal(run().status, 0, "not staged");
  inRepository("add", "a.ts");
  t.match(run(), { status: 1, stdout: /a\.ts:1:12/ });
  write("a.ts", "const a = 1;\n");
  inRepository("add", "a.ts");
  t.equal(run().status, 0);
  t.end();
});
