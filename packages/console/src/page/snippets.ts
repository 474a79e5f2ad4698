/** How a program gets a secret. */
export const snippetKinds = ["command", "sdk", "kubernetes", "ci"] as const;

export type SnippetKind = (typeof snippetKinds)[number];

interface Named {
  title: string;
  field: string;
  notation: string;
}

/** Lines to paste. They hold the name of a secret, and no value. */
export function snippetOf(kind: SnippetKind, { title, field, notation }: Named): string {
  const variable = variableName(`${title}_${field}`);
  return {
    command: `coffer read --config machine.json '${notation}'
${variable}='${notation}' coffer run --config machine.json -- ./server`,
    sdk: `import { createClient } from "@coffer/sdk";
import { loadConfiguration } from "@coffer/sdk/node";

const coffer = createClient(await loadConfiguration("machine.json"));
const value = await coffer.read("${notation}");`,
    kubernetes: `# kubectl create secret generic coffer-machine --from-file=machine.json
containers:
  - name: server
    command: [coffer, run, --, ./server]
    env:
      - name: ${variable}
        value: "${notation}"
      - name: COFFER_CONFIG
        valueFrom: { secretKeyRef: { name: coffer-machine, key: machine.json } }`,
    ci: `- run: npx coffer run -- ./deploy.sh
  env:
    ${variable}: "${notation}"
    COFFER_CONFIG: \${{ secrets.COFFER_CONFIG }}`,
  }[kind];
}

/** As `coffer env --folder` names it: upper case, with `_` for other signs and before a leading digit. */
function variableName(text: string): string {
  return text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_");
}
