import { readFileSync } from "node:fs";
import t from "tap";
import { auditActions } from "../src/index.ts";

const page = readFileSync(new URL("../../../docs/audit.md", import.meta.url), "utf8");

void t.test("docs/audit.md lists every action, and no other", (t) => {
  const [, section = ""] = page.split(/^## Actions$/m);
  const [rows = ""] = section.split(/^## /m);
  const named = [...rows.matchAll(/`([a-z_]+\.[a-z_.]+)`/g)].map(([, name]) => name);
  t.same(named.toSorted(), auditActions.toSorted());
  t.end();
});
