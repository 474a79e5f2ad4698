import { cpus, loadavg } from "node:os";
import type { Figure } from "./row.ts";

/** Every figure of a run at one size. */
export interface Report {
  /** The size, in words. */
  title: string;
  figures: Figure[];
  /** The most important figures, each with its sentence. */
  leading: ReadonlyMap<string, (figure: string) => string>;
}

const columns = ["what", "value", "baseline", "ratio", "target", "holds"] as const;

/** The figures as rows of text, for the terminal and for the page. */
export function figureCells({ name, value, unit, baseline, ratio, target, holds }: Figure): string[] {
  return [
    name,
    `${round(value)} ${unit}`,
    baseline === null ? "–" : `${round(baseline)} ${unit}`,
    ratio === null ? "–" : round(ratio),
    target,
    holds === null ? "–" : holds ? "yes" : "no",
  ];
}

/** A report in two sentences. A missed target is named by its row; this counts the met ones. */
export function headline({ title, figures, leading }: Report): string {
  const said = figures.flatMap(({ name, value, unit }) => {
    const sentence = leading.get(name);
    return sentence === undefined ? [] : [sentence(`${round(value)} ${unit}`)];
  });
  const targets = figures.filter(({ holds }) => holds !== null);
  const held = targets.filter(({ holds }) => holds === true).length;
  const first = said.length === 0 ? "" : `With ${title} ${said.join(", ")}. `;
  return `${first}${held} of ${targets.length} targets hold.`;
}

/** A Markdown table of one report. */
export function markdownTable(report: Report): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(columns),
    line(columns.map(() => "---")),
    ...report.figures.map((figure) => line(figureCells(figure))),
  ].join("\n");
}

/** The generated part of docs/benchmarks.md. */
export function markdownPage(reports: readonly Report[], when: Date): string {
  const processor = cpus()[0]?.model ?? "unknown";
  const head = `Measured ${when.toISOString().slice(0, 10)} on ${cpus().length} cores (${processor}), Node ${process.version}. Other work on the machine: a load of ${(loadavg()[1] ?? 0).toFixed(1)} at the end.`;
  const parts = reports.map((report) => `### ${report.title}\n\n${headline(report)}\n\n${markdownTable(report)}`);
  return [head, ...parts].join("\n\n");
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
