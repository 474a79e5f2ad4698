import { execFileSync } from "node:child_process";
import { parseEnv } from "node:util";
import t from "tap";
import { quoteValue } from "../../src/output/quote-value.ts";

const values = [
  "plain",
  "with space",
  '$HOME `id` \\n "quoted"',
  "it's",
  'it\'s "both" and $more',
  "several\nlines\n",
  "bang!",
  "it's!",
  "#hash =equals",
  "tab\tünïcode 🔑",
  "",
  "'",
  "~/x *.ts {a,b}",
];

await t.test("a shell reads every value as it is", (t) => {
  for (const value of values) {
    const script = `VALUE=${quoteValue(value)}\nprintf %s "$VALUE"`;
    t.equal(execFileSync("sh", ["-c", script]).toString(), value, JSON.stringify(value));
  }
  t.end();
});

await t.test("a reader of dotenv files reads the same, but for single quotes next to what it would expand", (t) => {
  for (const value of values.filter((text) => !(text.includes("'") && /["$`\\!]/.test(text))))
    t.equal(parseEnv(`VALUE=${quoteValue(value)}`)["VALUE"], value, JSON.stringify(value));
  t.end();
});
