import "./values.ts"; // installs Helm
import t, { type Test } from "tap";
import type { KubernetesObject } from "../src/kubernetes.ts";
import { caseFiles, objectsIn, template } from "../src/render.ts";

export const cases = caseFiles();
export const rendered = new Map<string, { text: string; objects: KubernetesObject[] }>();
for (const [name, file] of cases) {
  const { status, stdout, stderr } = template({ files: [file] });
  if (status !== 0) t.fail(`${name}: ${stderr}`);
  else rendered.set(name, { text: stdout, objects: objectsIn(stdout) });
}
export const everyCase = [...rendered].map(([name, { objects }]) => ({ name, objects }));

/** A test of each common case. */
export function inEachCase(title: string, check: (t: Test, objects: KubernetesObject[]) => void | Promise<void>): void {
  void t.test(title, async (t) => {
    t.ok(everyCase.length >= 10);
    for (const { name, objects } of everyCase) await t.test(name, async (t) => check(t, objects));
  });
}
