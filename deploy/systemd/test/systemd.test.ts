import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readEnvironment, type VariableName, variables } from "@coffer/env";
import t from "tap";
import { checkout } from "../../local/src/checkout.ts";

const file = join(checkout, "deploy/systemd/coffer.service");
const unit = readFileSync(file, "utf8");

/** The values that the unit gives a name, in order. */
const valuesOf = (name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);

await t.test("the unit runs npm start's program as its own user, and stops it in order", (t) => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  t.equal(`/usr/bin/env ${scripts["start"]?.replace(/^exec /, "") ?? ""}`, valuesOf("ExecStart")[0]);
  t.same(valuesOf("User"), ["coffer"]);
  t.same(valuesOf("KillMode"), ["mixed"]);
  // docs/running.md: at most 15 seconds with the default settings.
  t.ok(Number.parseInt(valuesOf("TimeoutStopSec")[0] ?? "", 10) >= 20);
  t.end();
});

await t.test("the unit can write its data and its cache, and nothing else", (t) => {
  t.same(valuesOf("ProtectSystem"), ["strict"]);
  t.same(valuesOf("ReadWritePaths"), []);
  t.same(valuesOf("StateDirectory"), ["coffer"]);
  const set = valuesOf("Environment");
  t.ok(set.includes("COFFER_DATA_DIR=/var/lib/coffer"));
  t.ok(set.includes("NODE_COMPILE_CACHE=/var/cache/coffer/compiled"));
  for (const name of ["NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices", "RestrictNamespaces"])
    t.same(valuesOf(name), ["yes"], name);
  t.same(valuesOf("CapabilityBoundingSet"), [""]);
  // V8 compiles at run time.
  t.notMatch(unit, /^MemoryDenyWriteExecute=/m);
  t.end();
});

await t.test("the settings are names and values that Coffer knows", (t) => {
  const text = readFileSync(join(checkout, "deploy/systemd/environment"), "utf8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const environment = Object.fromEntries(lines.map((line) => line.split("=", 2) as [string, string])); // NAME=value
  const names = Object.keys(environment);
  t.ok(names.length > 0);
  t.same(
    names.filter((name) => !(name in variables)),
    [],
  );
  readEnvironment(environment, names as VariableName[]); // checked in the line above
  t.end();
});

const there = spawnSync("systemd-analyze", ["--version"]).status === 0;
await t.test("systemd accepts the unit", (t) => {
  if (there) {
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    t.equal(status, 0, stderr);
    t.equal(stderr, "");
  } else {
    // Without systemd: each line has the expected form.
    t.comment("systemd-analyze is not on the PATH");
    const odd = unit.split("\n").filter((line) => !/^(#.*|\[(Unit|Service|Install)\]|[A-Za-z]+=.*|)$/.test(line));
    t.same(odd, []);
  }
  t.end();
});
