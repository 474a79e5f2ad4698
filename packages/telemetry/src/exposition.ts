import type { Registry } from "prom-client";

export type ExpositionFormat = "prometheus" | "openmetrics";

export const expositionTypes = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
} as const satisfies Record<ExpositionFormat, string>;

interface Sample {
  value: number;
  labels: Readonly<Record<string, string | number | undefined>>;
  metricName?: string;
  exemplar?: { labelSet: Readonly<Record<string, string>>; value: number; timestamp: number } | null;
}

/**
 * All metrics of a registry as text: Prometheus 0.0.4, or OpenMetrics 1.0 with exemplars. prom-client's
 * own OpenMetrics text would rename the registry's counters for later scrapes.
 */
export async function exposition(registry: Registry, format: ExpositionFormat): Promise<string> {
  const open = format === "openmetrics";
  const lines: string[] = [];
  for (const { name, help, type, values } of await registry.getMetricsAsJSON()) {
    const counts = String(type) === "counter";
    const family = counts ? name.replace(/_total$/, "") : name;
    const sampleName = counts ? `${family}_total` : name;
    const title = open ? family : sampleName;
    lines.push(`# HELP ${title} ${escaped(help, open)}`, `# TYPE ${title} ${String(type)}`);
    for (const sample of values as Sample[]) lines.push(line(sampleName, sample, open));
  }
  return [...lines, ...(open ? ["# EOF"] : []), ""].join("\n");
}

function line(name: string, { value, labels, metricName = name, exemplar }: Sample, open: boolean): string {
  const sample = `${metricName}${labelText(labels)} ${number(value)}`;
  if (!open || exemplar === undefined || exemplar === null) return sample;
  return `${sample} # ${labelText(exemplar.labelSet)} ${number(exemplar.value)} ${exemplar.timestamp.toFixed(3)}`;
}

function labelText(labels: Sample["labels"]): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(String(value), true)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string, quotes: boolean): string {
  const lines = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return quotes ? lines.replaceAll('"', '\\"') : lines;
}

const number = (value: number): string =>
  value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : Number.isNaN(value) ? "NaN" : String(value);
