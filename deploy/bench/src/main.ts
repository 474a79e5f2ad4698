import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { startCoffer } from "./coffer.ts";
import { startLoader } from "./load.ts";
import type { Report } from "./report.ts";
import { figureCells, markdownPage } from "./report.ts";
import type { Row } from "./row.ts";
import { rows } from "./rows/index.ts";
import type { Size } from "./seed.ts";
import { seed } from "./seed.ts";

const checkout = resolve(import.meta.dirname, "../../..");
const audience = "http://coffer.test";
const full: Size = { secrets: 100_000, clients: 1_000 };
const tenth: Size = { secrets: 10_000, clients: 100 };
/** Short bursts in turn: a noisy neighbour disturbs one of them, not the median. */
const burst = { seconds: 4, rounds: 3 };

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `no such benchmark: ${unknown.join(", ")}; there are ${rows.map(({ name }) => name).join(", ")}\n`,
  );
  process.exit(2);
}
const chosen = rows.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const reports = [await runAll(tenth, chosen), await runAll(full, chosen)];
writeResults(reports, wanted.length === 0);

async function runAll(size: Size, chosenRows: readonly Row[]): Promise<Report> {
  process.stdout.write(`\n${size.secrets} secrets, ${size.clients} clients\n`);
  const coffer = await startCoffer();
  const loader = startLoader();
  try {
    const seeded = await seed(coffer.postgresUrl, size, audience);
    const report: Report = { ...size, figures: [] };
    for (const row of chosenRows) {
      for (const figure of await row.run({ coffer, seeded, loader, ...burst })) {
        report.figures.push(figure);
        process.stdout.write(`  ${figureCells(figure).join("  ")}\n`);
      }
    }
    return report;
  } finally {
    loader.close();
    await coffer.close();
  }
}

/** bench/results.json always; the page only after a whole run, so that it never shows half of one. */
function writeResults(all: readonly Report[], whole: boolean): void {
  mkdirSync(resolve(checkout, "bench"), { recursive: true });
  const flat = all.flatMap(({ secrets, figures }) =>
    figures.map((figure) => ({ ...figure, name: secrets === full.secrets ? figure.name : `${figure.name} (a tenth)` })),
  );
  writeFileSync(resolve(checkout, "bench/results.json"), `${JSON.stringify(flat, null, 2)}\n`);
  if (!whole) return;
  const page = resolve(checkout, "docs/benchmarks.md");
  const marked = /(<!-- figures -->\n)[^]*(\n<!-- end of figures -->)/;
  writeFileSync(page, readFileSync(page, "utf8").replace(marked, `$1\n${markdownPage(all, new Date())}\n$2`));
}
