import { readFileSync } from "node:fs";
import t from "tap";
import type { CommandRow } from "../../src/command-row.ts";
import { exitCodes } from "../../src/failure.ts";
import { groups } from "../../src/rows/index.ts";

const page = readFileSync(new URL("../../../../docs/cli.md", import.meta.url), "utf8");
const rows: readonly CommandRow[] = groups.flatMap(([, each]) => each);

await t.test("docs/cli.md has every command, every option and every exit code", (t) => {
  for (const { name, options } of rows) {
    t.ok(page.includes(`coffer ${name}`), name);
    for (const { flags } of options) {
      const [, long = ""] = /(--[a-z-]+)/.exec(flags) ?? [];
      t.ok(page.includes(long), `${name} ${long}`);
    }
  }
  for (const code of Object.values(exitCodes)) t.match(page, new RegExp(`^\\| ${code} +\\|`, "m"), `exit code ${code}`);
  t.end();
});

await t.test("docs/cli.md names no command that is not there", (t) => {
  const names = rows.map(({ name }) => name);
  const nouns = new Set(names.filter((name) => name.includes(" ")).map((name) => name.split(" ")[0]));
  for (const [, first = "", second = ""] of page.matchAll(/`(?:npx )?coffer ([a-z]+)(?: ([a-z][a-z-]*))?/g)) {
    // Some commands, such as scan, have commands below them.
    const both = `${first} ${second}`;
    const isAlone = names.includes(first) && !names.includes(both);
    t.ok(names.includes(nouns.has(first) && !isAlone ? both : first), both);
  }
  t.end();
});
