import type { Finding, OperationResult } from "./run-fuzz.ts";

const mostShown = 20;

/** An operation's result in a line. */
export function lineOf({ operation, requests, statuses, milliseconds, findings }: OperationResult): string {
  const counts = Object.entries(statuses).map(([status, count]) => `${status === "0" ? "none" : status}: ${count}`);
  const word = findings.length === 0 ? "ok    " : "FAILED";
  return `${word} ${operation}, ${requests} requests, slowest ${milliseconds.toFixed(0)} ms (${counts.join(", ")})\n`;
}

/** Findings with their requests: the first of each kind, and the count of the kind. */
export function shownFindings(seed: string, findings: readonly Finding[]): string {
  const kinds = Map.groupBy(findings, ({ operation, problems }) => `${operation}: ${kindOf(problems[0] ?? "")}`);
  return Array.from(kinds.values(), (same) => ({ first: same[0], count: same.length }))
    .slice(0, mostShown)
    .map(({ first, count }) => (first === undefined ? "" : shown(seed, first, count)))
    .join("");
}

function shown(
  seed: string,
  { operation, index, caller, malformation, problems, request }: Finding,
  count: number,
): string {
  return [
    `\n${operation}, ${count} times, first as ${caller} with ${malformation}:`,
    ...problems.map((problem) => `  ${problem}`),
    `  again: npm run fuzz -- --seed ${seed} --first ${index} --count 1 ${operation}`,
    ...request.split("\n").map((line) => `    ${line}`),
    "",
  ].join("\n");
}

/** A problem without the parts that differ between requests. */
function kindOf(problem: string): string {
  return problem.replace(/"request_id":"[^"]*"/, "").slice(0, 80);
}
