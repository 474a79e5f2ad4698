import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { testDirectory, type TestScope } from "@coffer/testkit";

const installed = resolve(import.meta.dirname, "../../../../node_modules");

const files = {
  ".gitignore": "node_modules/\n",
  "package.json": "{}",
  "tsconfig.json": JSON.stringify({
    compilerOptions: { strict: true, module: "nodenext", types: [], noEmit: true, allowImportingTsExtensions: true },
    include: ["packages/*/src"],
  }),
  "packages/limit/package.json": JSON.stringify({
    name: "@small/limit",
    type: "module",
    exports: { ".": "./src/limit.ts" },
  }),
  "packages/limit/src/limit.ts": [
    "/** At most three. */",
    "export function isWithin(count: number): boolean {",
    "  return count <= 3;",
    "}",
    'export const name: string = "three";',
    "",
  ].join("\n"),
  "packages/user/package.json": JSON.stringify({ type: "module" }),
  "packages/user/test/limit.test.ts": [
    'import t from "tap";',
    'import { isWithin } from "@small/limit";',
    'await t.test("three are within, four are not", (t) => {',
    "  t.equal(isWithin(3), true);",
    "  t.equal(isWithin(4), false);",
    "  t.end();",
    "});",
    "",
  ].join("\n"),
  "packages/user/test/failing.test.ts": 'import t from "tap";\nawait t.test("is", (t) => t.end());\nt.fail("fails");\n',
};

/** A checkout of one package and its user, with this checkout's installed packages. Returns its path. */
export function smallCheckout(t: TestScope): string {
  const directory = testDirectory(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, dirname(name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  mkdirSync(join(directory, "node_modules/@small"), { recursive: true });
  symlinkSync("../../packages/limit", join(directory, "node_modules/@small/limit"));
  for (const name of ["tap", ".bin"]) symlinkSync(join(installed, name), join(directory, "node_modules", name));
  execFileSync("git", ["init", "--quiet"], { cwd: directory });
  return directory;
}

/** The text of every file of the checkout by name, to show that nothing was written. */
export function textsOf(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const own = names.filter(
    (name) => !/^(\.git|node_modules)(\/|$)/.test(name) && statSync(join(directory, name)).isFile(),
  );
  return Object.fromEntries(own.map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}
