import { readFileSync } from "node:fs";
import { auditActions } from "@coffer/contract";
import t from "tap";
import { ecsClasses, ecsClassOf } from "../../src/formats/ecs-classes.ts";

void t.test("docs/siem.md has each action once, with its category and type", (t) => {
  const page = readFileSync(new URL("../../../../docs/siem.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` +\| `(\w+)` +\| (.*\.[a-z_]+`) *\|$/gm)];
  const documented = rows.flatMap(([, category, type, actions = ""]) =>
    Array.from(actions.matchAll(/`([a-z_.]+)`/g), ([, action = ""]) => [action, { category, type }] as const),
  );
  t.same(documented.map(([action]) => action).sort(), [...auditActions].sort());
  t.same(Object.fromEntries(documented), ecsClasses);
  t.end();
});

void t.test("an action of a newer version is a setting", (t) => {
  t.same(ecsClassOf("galaxy.folded"), { category: "configuration", type: "change" });
  t.same(ecsClassOf("constructor"), { category: "configuration", type: "change" });
  t.end();
});
