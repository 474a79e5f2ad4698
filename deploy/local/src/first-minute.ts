import { existsSync } from "node:fs";
import { join } from "node:path";

const machineFile = "machine.json";

/** From an empty installation to a decrypted secret in a program's environment: the lines to paste. */
export const firstMinute: readonly string[] = [
  'npx coffer register --email you@example.com --org "Example"',
  "npx coffer folder create production",
  "printf 's3cret' | npx coffer set coffer://production/database/field/password",
  "npx coffer app create api",
  "npx coffer token create --app api --folder production:read",
  `npx coffer bootstrap --config ${machineFile}`,
  `DB_PASSWORD=coffer://production/database/field/password npx coffer run --config ${machineFile} -- printenv DB_PASSWORD`,
];

/**
 * A warning for a new start in a folder where these lines were run before, since `bootstrap` never
 * overwrites a machine; null without one. The machine may belong to another running installation.
 */
export function machineInTheWay(folder: string): string | null {
  if (!existsSync(join(folder, machineFile))) return null;
  return `there is a ${machineFile} in ${folder}, which bootstrap does not write over: move it away before you bootstrap there`;
}
