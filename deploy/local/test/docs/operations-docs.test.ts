import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import t from "tap";
import { createSealer } from "../../../../services/siem-forwarder/src/credentials/seal.ts";
import { checkout } from "../../src/checkout.ts";

// The pages for operators: their links, their commands, and the figures of size.md.

const pages = [...globSync("docs/operations/*.md", { cwd: checkout }), "docs/versions.md"].sort();
const textOf = (page: string): string => readFileSync(join(checkout, page), "utf8");
const blocksOf = (page: string): string[] =>
  Array.from(textOf(page).matchAll(/^ *```sh\n([^]*?)```/gm), ([, block = ""]) => block);
const { scripts } = JSON.parse(textOf("package.json")) as { scripts: Record<string, string> };

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const titles = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, title = ""]) => title);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

await t.test("every link leads to a page and to a heading of it", (t) => {
  for (const page of pages)
    for (const [, target = ""] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const path = file === "" ? join(checkout, page) : resolve(checkout, dirname(page), file);
      t.ok(existsSync(path), `${page}: ${target}`);
      if (anchor !== undefined) t.ok(anchorsOf(readFileSync(path, "utf8")).has(anchor), `${page}: ${target}`);
    }
  t.end();
});

await t.test("the index has every page", (t) => {
  const index = textOf("docs/operations/README.md");
  for (const page of pages.filter((each) => dirname(each) === "docs/operations" && basename(each) !== "README.md"))
    t.match(index, `(${basename(page)})`);
  t.end();
});

await t.test("every command is right for a shell, and names scripts and files that exist", (t) => {
  for (const page of pages)
    for (const block of blocksOf(page)) {
      const { status, stderr } = spawnSync("bash", ["-n", "-c", block], { encoding: "utf8" });
      t.equal(status, 0, `${page}: ${stderr}`);
      for (const [, name = ""] of block.matchAll(/\bnpm run ([\w:]+)(?! -w| [\w-]* -w)/g))
        if (!block.includes(" -w ")) t.ok(scripts[name], `${page}: npm run ${name}`);
      for (const [path] of block.matchAll(/\b(charts|deploy|services|packages)\/[\w./-]+/g))
        if (!/secrets|\.env$|\.generated/.test(path)) t.ok(existsSync(join(checkout, path)), `${page}: ${path}`);
    }
  t.end();
});

await t.test("both commands of rotate-keys.md make a key that siem-forwarder accepts", (t) => {
  const blocks = blocksOf("docs/operations/rotate-keys.md").filter((block) => /randomBytes|basenc/.test(block));
  t.equal(blocks.length, 2);
  for (const block of blocks) {
    const { stdout } = spawnSync("bash", ["-euo", "pipefail", "-c", block], { encoding: "utf8" });
    const sealer = createSealer([stdout.trim()]);
    t.equal(sealer.open(sealer.seal("a token", "an id"), "an id"), "a token");
  }
  t.end();
});

/** A figure in µs, KiB or requests a second. */
function measured(text: string): number {
  const [, number = "", unit = ""] = /^([\d.,]+) (\S+)/.exec(text) ?? [];
  const factor = { µs: 1, ms: 1000, s: 1_000_000, KiB: 1, MiB: 1024, "1/s": 1 }[unit];
  if (factor === undefined) throw new Error(`"${text}" is no figure`);
  return Number(number.replaceAll(",", "")) * factor;
}

await t.test("size.md reckons with no less than the benchmarks have measured", (t) => {
  const rows = new Map<string, number[]>();
  for (const [, name = "", value = ""] of textOf("docs/benchmarks.md").matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|/gm))
    if (/^[\d.]+ (µs|ms|s|KiB|MiB|1\/s)$/.test(value)) rows.set(name, [...(rows.get(name) ?? []), measured(value)]);
  const counted = Array.from(
    textOf("docs/operations/size.md").matchAll(/^\| [^|]+ \| `([^`]+)` +\| ([\d.,]+ (?:µs|ms|KiB|MiB)) +\|$/gm),
  );
  t.equal(counted.length, 9);
  for (const [, name = "", figure = ""] of counted) {
    const values = rows.get(name) ?? [];
    t.ok(values.length > 0, name);
    for (const value of values) t.ok(value <= measured(figure), `${name}: ${value} is more than ${figure}`);
  }
  for (const [, name = ""] of textOf("docs/operations/size.md").matchAll(/`((?:field|secret|push|10000) [^`]*)`/g))
    t.ok(
      [...rows.keys()].some((row) => row.startsWith(name)),
      name,
    );
  t.end();
});

await t.test("the cores of size.md follow from its formula", (t) => {
  const [reads, lists, changes] = [0.35, 0.5, 1];
  const rows = Array.from(
    textOf("docs/operations/size.md").matchAll(
      /^\| [^|]+ \| ([\d,]+) +\| ([\d,]+) +\| [\d,]+ +\| ([\d,]+) reads\/s, ([\d,]+) lists\/s +\| ([\d.]+) +\|$/gm,
    ),
  );
  t.equal(rows.length, 3);
  for (const row of rows) {
    const [people = 0, machines = 0, readRate = 0, listRate = 0, cores = 0] = row
      .slice(1)
      .map((text) => Number(text.replaceAll(",", "")));
    t.equal(readRate, Math.round((machines / 4) * (10 / 60)));
    t.equal(listRate, Math.round(machines / 60));
    const changeRate = ((people * 20) / 86_400) * 10;
    const computed = (readRate * reads + listRate * lists + changeRate * changes) / 1000 / 0.6;
    t.ok(Math.abs(computed / cores - 1) < 0.05, `${computed} for ${cores}`);
  }
  t.end();
});
