import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { type HelmOutput, runHelm } from "./helm.ts";
import type { KubernetesObject } from "./kubernetes.ts";
import { chart } from "./paths.ts";

/** The version of Kubernetes that the chart is rendered for. */
export const kubernetesVersion = "1.34.0";

export interface RenderOptions {
  /** Files of values, as paths. */
  files?: readonly string[];
  /** Values that override those of the files. */
  values?: Record<string, unknown>;
  /** A folder for the values. */
  directory?: string;
  release?: string;
  namespace?: string;
  isUpgrade?: boolean;
}

/** Helm's output for these values, with the Kubernetes extensions that the chart requires. */
export function template(options: RenderOptions): HelmOutput {
  const { files = [], values, directory, release = "coffer", namespace = "coffer", isUpgrade = false } = options;
  const all = [...files];
  if (values !== undefined) {
    const path = join(directory ?? "", "values.json");
    writeFileSync(path, JSON.stringify(values));
    all.push(path);
  }
  return runHelm([
    "template",
    release,
    chart,
    "--namespace",
    namespace,
    "--kube-version",
    kubernetesVersion,
    "--api-versions",
    "monitoring.coreos.com/v1",
    ...(isUpgrade ? ["--is-upgrade"] : []),
    ...all.flatMap((file) => ["--values", file]),
  ]);
}

/** The objects of a rendering. Throws Error with Helm's message, or for a repeated key. */
export function render(options: RenderOptions): KubernetesObject[] {
  const { status, stdout, stderr } = template(options);
  if (status !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

/** The objects of several YAML documents. Throws Error for a repeated key. */
export function objectsIn(text: string): KubernetesObject[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const value = document.toJS() as KubernetesObject | null; // whether it is one is what the tests find out
    return value === null ? [] : [value];
  });
}

/** The values of each common case, by the name of its file. */
export function caseFiles(): Map<string, string> {
  const folder = resolve(chart, "ci");
  const names = readdirSync(folder).filter((name) => name.endsWith("-values.yaml"));
  return new Map(names.sort().map((name) => [name.replace(/-values\.yaml$/, ""), join(folder, name)]));
}

/** The default values of the chart. */
export function presetValues(): Record<string, unknown> {
  return parse(readFileSync(resolve(chart, "values.yaml"), "utf8")) as Record<string, unknown>; // a map, by the schema
}
