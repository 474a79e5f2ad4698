import { ConfigurationError } from "./configuration-error.ts";
import { readText } from "./read-text.ts";
import { ValueProblem } from "./variable.ts";

interface FromFiles {
  /** The texts of the files, by the name of the variable. */
  values: Record<string, string>;
  /** The problem of a variable, by its name. */
  problems: Map<string, string>;
}

// The only standard name with this ending: it names a configuration file, not the value of a
// variable.
const configurationFile = "OTEL_CONFIG_FILE";

/**
 * Reads the standard OpenTelemetry variables that an environment gives as `<NAME>_FILE`. It accepts
 * any name, because the standard has many more than our table, and OTEL_EXPORTER_OTLP_HEADERS
 * contains a password.
 */
export function readOpenTelemetryFiles(env: NodeJS.ProcessEnv): FromFiles {
  const found: FromFiles = { values: {}, problems: new Map() };
  for (const key of Object.keys(env)) {
    const name = /^(OTEL_.+)_FILE$/.exec(key)?.[1];
    if (name === undefined || key === configurationFile) continue;
    try {
      const text = readText(env, { name });
      if (text !== undefined) found.values[name] = text;
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error;
      found.problems.set(name, `${name} ${error.message}`);
    }
  }
  return found;
}

/**
 * The OpenTelemetry variables that an environment gives as `<NAME>_FILE`, by the name that the SDK
 * reads. Throws `ConfigurationError` when a file cannot be read, or a variable is given directly
 * too.
 */
export function openTelemetryFromFiles(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const { values, problems } = readOpenTelemetryFiles(env);
  if (problems.size > 0) throw new ConfigurationError([...problems.values()]);
  return values;
}
