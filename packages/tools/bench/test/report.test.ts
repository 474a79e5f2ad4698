import t from "tap";
import { headline, markdownPage } from "../src/report.ts";
import type { Figure } from "../src/row.ts";

const figure = (name: string, value: number, unit: Figure["unit"], holds: boolean | null): Figure => ({
  name,
  value,
  unit,
  baseline: null,
  ratio: null,
  target: "",
  holds,
});
const report = {
  title: "10,000 secrets",
  leading: new Map<string, (figure: string) => string>([
    ["secret read: CPU of all processes", (figure) => `a read costs ${figure} of CPU in all processes`],
    ["secret read: p50 one at a time", (figure) => `a response takes ${figure}`],
    ["secret create: rate", (figure) => `the create rate is ${figure}`],
  ]),
  figures: [
    figure("secret read: CPU of all processes", 231, "µs", true),
    figure("secret read: p50 one at a time", 0.723, "ms", false),
    figure("something else", 7, "ms", true),
    figure("something without a target", 7, "ms", null),
    figure("secret create: rate", 1463.2, "1/s", false),
  ],
};

await t.test("a report begins with its most important figures and the number of met targets", (t) => {
  const said =
    "With 10,000 secrets a read costs 231 µs of CPU in all processes, a response takes 0.72 ms, " +
    "the create rate is 1463 1/s. 2 of 4 targets hold.";
  t.equal(headline(report), said);
  t.equal(headline({ ...report, figures: report.figures.slice(2, 3) }), "1 of 1 targets hold.");
  t.match(markdownPage([report], new Date(0)), `### 10,000 secrets\n\n${said}\n\n| what |`);
  t.end();
});
