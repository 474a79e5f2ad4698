import { parse, stringify } from "yaml";
import type { RuleGroup } from "../../src/observability/alerts.ts";

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const duration = /^(\d+)([smhd])$/;
/**
 * A comparison with a number of seconds that passes while nothing happens: an age, or the time
 * since a moment.
 */
const ageLimit = /(_age_seconds\)|time\(\) - .*) > (\d+)$/;

/**
 * The rules in a time that runs `factor` times as fast: divides each `for`, each window and step in
 * brackets, each offset, and the limit of an age. Everything else stays: expressions, rates,
 * ratios, counts, and limits of latencies.
 */
export function shortenRules(text: string, factor: number): string {
  const { groups } = parse(text) as { groups: RuleGroup[] }; // the chart's own file
  const shortened = groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({
      ...rule,
      expr: shortenExpression(rule.expr, factor),
      ...(rule.for === undefined ? {} : { for: shortenDuration(rule.for, factor) }),
    })),
  }));
  return stringify({ groups: shortened }, { lineWidth: 0 });
}

function shortenExpression(expression: string, factor: number): string {
  return expression
    .replaceAll(/\[(\w+)(:\w+)?\]/g, (_, window: string, step?: string) =>
      step === undefined
        ? `[${shortenDuration(window, factor)}]`
        : `[${shortenDuration(window, factor)}:${shortenDuration(step.slice(1), factor)}]`,
    )
    .replaceAll(/\boffset (\w+)/g, (_, by: string) => `offset ${shortenDuration(by, factor)}`)
    .replace(ageLimit, (_, age: string, limit: string) => `${age} > ${Number(limit) / factor}`);
}

function shortenDuration(text: string, factor: number): string {
  const [, count, unit = ""] = duration.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN);
  if (Number.isNaN(seconds)) throw new TypeError(`not a duration of one unit: ${text}`);
  return `${Math.max(1, Math.round((seconds * 1_000) / factor))}ms`;
}
