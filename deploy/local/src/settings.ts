import { resolve } from "node:path";
import { readEnvironment, type VariableName, variables } from "@coffer/env";

const names = Object.keys(variables) as VariableName[]; // the table's own keys

/** The values of every variable; paths are absolute. Throws ConfigurationError with all problems at once. */
export function readSettings(env: NodeJS.ProcessEnv) {
  const values = readEnvironment(env, names);
  return { ...values, COFFER_DATA_DIR: resolve(values.COFFER_DATA_DIR) };
}

export type Settings = ReturnType<typeof readSettings>;
