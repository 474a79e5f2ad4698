import { closest } from "./closest.ts";
import { variables } from "./variables.ts";

/** Variables of the command line. The server ignores them. */
export const commandNames = ["COFFER_URL", "COFFER_PASSWORD", "COFFER_CONFIG", "COFFER_TOKEN"] as const;

/** Variables that `npm test` sets for the tests. The servers that tests start inherit them. */
const testNames = ["COFFER_TEST_POSTGRES_URL", "COFFER_TEST_DIRECTORY"] as const;

const serverNames = Object.values(variables).flatMap(({ name }) => [name, `${name}_FILE`]);
const knownNames = new Set<string>([...serverNames, ...commandNames, ...testNames]);
const suggestible = [...serverNames, ...commandNames].filter(
  (name) => !Object.values(variables).some((row) => row.internal && name.startsWith(row.name)),
);

/**
 * Problems with the names in an environment: each unknown `COFFER_*` name, with the closest known
 * one.
 */
export function unknownNames(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith("COFFER_") && !knownNames.has(name))
    .sort()
    .map((name) => `${name} is not a known name: did you mean ${closest(name, suggestible, 1).join("")}?`);
}
