import { readFileSync } from "node:fs";
import t from "tap";

const css = readFileSync(new URL("../src/styles/tokens.css", import.meta.url), "utf8");
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }] as const,
  ),
);

/** Relative luminance (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const grounds = ["ground", "surface", "raised"];
const pairs: [front: string, back: string, least: number][] = [
  ...grounds.flatMap((back): [string, string, number][] => [
    ["text", back, 7],
    ["soft", back, 4.5],
    ["accent", back, 4.5],
    ["danger", back, 4.5],
    ["warn", back, 4.5],
    // Edges of controls, which are not text.
    ["edge", back, 3],
  ]),
  ["text", "selected", 7],
  ["soft", "selected", 4.5],
  ["on-accent", "accent", 4.5],
];

for (const [front, back, least] of pairs)
  await t.test(`${front} on ${back} has a contrast of ${least} in light and dark`, (t) => {
    for (const scheme of ["light", "dark"] as const) {
      const value = contrast(colours.get(front)?.[scheme] ?? "#000000", colours.get(back)?.[scheme] ?? "#000000");
      t.ok(value >= least, `${scheme}: ${value.toFixed(2)}`);
    }
    t.end();
  });

await t.test("only the tokens name colours", (t) => {
  const rules = readFileSync(new URL("../src/styles/console.css", import.meta.url), "utf8");
  t.same(rules.match(/#[0-9a-f]{3,8}\b|rgb|hsl/g), ["#0008"], "the shade behind a dialog");
  t.end();
});
