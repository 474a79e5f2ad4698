import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { startCoffer } from "./coffer.ts";
import { startLoader } from "./load.ts";
import { figureCells, markdownPage, type Report } from "./report.ts";
import type { Figure } from "./row.ts";
import { scannerReports } from "./scanner.ts";
import type { Suite } from "./suite.ts";
import { auditSuite, secretsSuite, vaultsSuite } from "./suites.ts";

const checkout = resolve(import.meta.dirname, "../../../..");
/** Short alternating bursts: a noisy neighbour disturbs one of them, not the median. */
const burst = { seconds: 4, rounds: 3 };

const rowNames = [...secretsSuite.rows, ...vaultsSuite.rows, ...auditSuite.rows].map(({ name }) => name);
const names = [...rowNames, "scanner"];
const usage = `npm run bench -- [name…]

Measures the named benchmarks (default: all), prints the figures and writes bench/results.json; all of them
also write docs/benchmarks.md. It takes minutes for each name, and an hour for all.

  ${names.join("\n  ")}
`;
const wanted = process.argv.slice(2);
if (wanted.some((name) => name === "--help" || name === "-h")) {
  process.stdout.write(usage);
  process.exit(0);
}
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`no such benchmark: ${unknown.join(", ")}; there are ${names.join(", ")}\n`);
  process.exit(2);
}
const reports = [
  ...(await runSuite(secretsSuite)),
  ...(await runSuite(vaultsSuite)),
  ...(await runSuite(auditSuite)),
  ...(wanted.length === 0 || wanted.includes("scanner") ? await scannerReports() : []),
];
writeResults(reports, wanted.length === 0);

/** A tenth of the size first: it shows faults sooner. */
async function runSuite<Size, Content>(suite: Suite<Size, Content>): Promise<[tenth: Report, full: Report] | []> {
  const rows = suite.rows.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  if (rows.length === 0) return [];
  const { tenth, full } = suite.sizes;
  return [await runSize({ ...suite, rows }, tenth), await runSize({ ...suite, rows }, full)];
}

async function runSize<Size, Content>(suite: Suite<Size, Content>, size: Size): Promise<Report> {
  const title = suite.title(size);
  process.stdout.write(`\n${title}\n`);
  const coffer = await startCoffer(suite.services);
  const loader = startLoader();
  let release = (): Promise<void> | undefined => undefined;
  try {
    const seeded = await suite.seed(coffer, size);
    release = () => suite.release?.(seeded);
    const figures: Figure[] = [];
    for (const row of suite.rows) {
      for (const figure of await row.run({ coffer, seeded, loader, ...burst })) {
        figures.push(figure);
        process.stdout.write(`  ${figureCells(figure).join("  ")}\n`);
      }
    }
    return { title, figures, leading: suite.leading };
  } finally {
    loader.close();
    await release();
    await coffer.close();
  }
}

/** Always writes bench/results.json; the page only after a whole run. */
function writeResults(all: readonly Report[], whole: boolean): void {
  mkdirSync(resolve(checkout, "bench"), { recursive: true });
  const flat = all.flatMap(({ figures }, index) =>
    figures.map((figure) => ({ ...figure, name: index % 2 === 1 ? figure.name : `${figure.name} (a tenth)` })),
  );
  writeFileSync(resolve(checkout, "bench/results.json"), `${JSON.stringify(flat, null, 2)}\n`);
  if (!whole) return;
  const page = resolve(checkout, "docs/benchmarks.md");
  const marked = /(<!-- figures -->\n)[^]*(\n<!-- end of figures -->)/;
  writeFileSync(page, readFileSync(page, "utf8").replace(marked, `$1\n${markdownPage(all, new Date())}\n$2`));
}
