import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { presentServices } from "../../local/src/services/services.ts";
import { type KubernetesObject, type PodTemplate, podTemplates } from "../src/kubernetes.ts";
import { render, template } from "../src/render.ts";
import { installTools } from "../src/tools.ts";

const report = (line: string): void => t.comment(line);
installTools({ report });

export const directory = testDirectory(t);
export const named = (objects: readonly KubernetesObject[], kind: string): KubernetesObject[] =>
  objects.filter((each) => each.kind === kind);
export const base = { baseUrls: ["https://coffer.example.com"], existingSecret: "coffer-stores" };
export const renderValues = (values: Record<string, unknown>): KubernetesObject[] =>
  render({ values: { ...base, ...values }, directory });
export const refusal = (values: Record<string, unknown>): string =>
  template({ values: { ...base, ...values }, directory }).stderr;

export const componentOf = (labels: Record<string, string>): string => labels["app.kubernetes.io/component"] ?? "";

export function servicePods(objects: readonly KubernetesObject[]): PodTemplate[] {
  const names = new Set<string>(presentServices().map(({ name }) => name));
  return podTemplates(objects).filter(
    ({ owner, labels }) => owner.kind === "Deployment" && names.has(componentOf(labels)),
  );
}
