import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parse } from "yaml";
import { chart } from "../src/paths.ts";
import { disturbances } from "./alerts/disturbances.ts";
import { shortenRules } from "./alerts/shorten.ts";

// The rules by which npm run alerts sees each alert fire.

const rules = readFileSync(join(chart, "files/alerts.yaml"), "utf8");

/** The rule of a file with one rule. */
function shortened(rule: object, factor: number): unknown {
  const text = shortenRules(JSON.stringify({ groups: [{ name: "g", rules: [rule] }] }), factor);
  return (parse(text) as { groups: { rules: unknown[] }[] }).groups[0]?.rules[0];
}

void t.test("waits, windows, steps, offsets and ages are shorter, and nothing else is different", (t) => {
  t.same(
    shortened({ alert: "A", expr: "rate(a_total[1h:1m] offset 10m) > 20", for: "5m", labels: { window: "1h" } }, 60),
    {
      alert: "A",
      expr: "rate(a_total[60000ms:1000ms] offset 10000ms) > 20",
      for: "5000ms",
      labels: { window: "1h" },
    },
  );
  t.same(shortened({ alert: "B", expr: "max by (service) (b_age_seconds) > 300" }, 60), {
    alert: "B",
    expr: "max by (service) (b_age_seconds) > 5",
  });
  t.same(shortened({ alert: "C", expr: "time() - max(c) > 120" }, 60), { alert: "C", expr: "time() - max(c) > 2" });
  t.throws(() => shortened({ alert: "D", expr: "rate(d[1h30m])" }, 60), TypeError);
  t.end();
});

void t.test("no duration of the chart's rules is left out", (t) => {
  t.notMatch(shortenRules(rules, 30), /\[\d+[smhd][\]:]|offset \d+[smhd]\b|for: \d+[smhd]\b/);
  t.end();
});

void t.test("each alert has a fault that causes it, but those about Jobs", (t) => {
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const without = names.filter((name) => !disturbances.some(({ alert }) => alert === name));
  t.same(without, ["CofferMigrationFailed", "CofferBackupFailed"]);
  t.end();
});
