import { ConfigurationError, readEnvironment, type VariableName, variables } from "../src/index.ts";

export const allNames = Object.keys(variables) as VariableName[]; // the keys of the table are its names

/** The problems that reading everything from this environment finds; none when it can be read. */
export function problemsOf(env: NodeJS.ProcessEnv, names: readonly VariableName[] = allNames): readonly string[] {
  try {
    readEnvironment(env, names);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}
