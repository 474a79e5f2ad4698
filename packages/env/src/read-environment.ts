import { ConfigurationError } from "./configuration-error.ts";
import { crossProblems } from "./cross-checks.ts";
import { unknownNames } from "./names.ts";
import { readOpenTelemetryFiles } from "./open-telemetry.ts";
import { readText } from "./read-text.ts";
import { ValueProblem, type Variable } from "./variable.ts";
import { variables } from "./variables.ts";

export type VariableName = keyof typeof variables;

export type Environment<Name extends VariableName> = {
  [K in Name]: (typeof variables)[K] extends Variable<infer Value> ? Value : never;
};

/**
 * Reads the named variables from an environment, each also from its `<NAME>_FILE`. A missing
 * variable has its default. Throws `ConfigurationError` with all problems at once: invalid values,
 * unreadable files, values that contradict each other, and unknown `COFFER_*` names.
 */
export function readEnvironment<Name extends VariableName>(
  env: NodeJS.ProcessEnv,
  names: readonly Name[],
): Environment<Name> {
  const problems = new Map<string, string>();
  const values = new Map<string, unknown>();

  function given<T>(row: Variable<T>): T {
    if (!values.has(row.name)) values.set(row.name, read(row));
    return values.get(row.name) as T; // put there by the line above, under this row's name
  }

  function read<T>(row: Variable<T>): T {
    let text: string | undefined;
    try {
      text = readText(env, row);
      if (text !== undefined) return row.parse(text);
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error;
      // A URL may contain a password where none belongs.
      const isShown = text !== undefined && !row.secret && !text.includes("@");
      const shown = isShown ? `, not ${JSON.stringify(text)}` : "";
      problems.set(row.name, `${row.name} ${error.message}${shown}`);
    }
    return row.fallback(given);
  }

  for (const name of names) given<unknown>(variables[name]);
  // With tracing the SDK reads its other variables. Problems of their files are reported here with
  // all others.
  if (values.has(variables.OTEL_EXPORTER_OTLP_ENDPOINT.name))
    for (const [name, problem] of readOpenTelemetryFiles(env).problems)
      if (!problems.has(name)) problems.set(name, problem);
  const isSound = (name: VariableName): boolean => values.has(name) && !problems.has(name);
  const all = [...problems.values(), ...crossProblems(given, isSound), ...unknownNames(env)];
  if (all.length > 0) throw new ConfigurationError(all);
  return Object.fromEntries(names.map((name) => [name, values.get(name)])) as Environment<Name>; // keyed by `names`
}
