import t from "tap";
import { describeVariables, variables } from "../src/index.ts";

void t.test("the table names every variable that people set, with its default and meaning", (t) => {
  const table = describeVariables();
  for (const { name, shownDefault, meaning, internal } of Object.values(variables)) {
    if (internal) t.notMatch(table, name, `${name} is not for people`);
    else t.ok(table.includes(`default: ${shownDefault}\n`) && table.includes(meaning) && table.includes(name), name);
  }
  t.match(table, "Each variable may also be given as <NAME>_FILE");
  t.match(table, "COFFER_URL, COFFER_PASSWORD, COFFER_CONFIG, COFFER_TOKEN");
  t.end();
});

void t.test("every row is found under its own name", (t) => {
  for (const [name, row] of Object.entries(variables)) t.equal(row.name, name);
  t.end();
});

void t.test("no line of the table is wider than 120 columns", (t) => {
  for (const line of describeVariables().split("\n")) t.ok(line.length <= 120, line);
  t.end();
});
