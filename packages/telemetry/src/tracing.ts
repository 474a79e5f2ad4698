import { openTelemetryFromFiles } from "@coffer/env";
import { readWithin } from "./read-within.ts";
import { isTracing, setTracing } from "./tracing-state.ts";
import { version } from "./version.ts";

export interface Tracing {
  /** Sends waiting spans, for at most 5 s, and stops recording. */
  close(): Promise<void>;
}

const flushMilliseconds = 5000;

/**
 * Starts to record spans if `OTEL_EXPORTER_OTLP_ENDPOINT` (or that for traces) is set in `env`;
 * otherwise loads and records nothing. Services of one process share its tracing. The SDK reads the
 * standard OpenTelemetry variables from the process's own environment, into which those given as
 * `<NAME>_FILE` are copied first; it does not handle metrics and logs.
 * Throws `ConfigurationError` if such a file cannot be read, or a variable is given both ways.
 */
export async function startTracing(service: string, given: NodeJS.ProcessEnv): Promise<Tracing> {
  const env = { ...given, ...takeFiles(given) };
  const endpoint = env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] ?? "";
  const off = endpoint === "" || env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  if (off || isTracing()) return { close: () => Promise.resolve() };

  const { startNodeSdk } = await import("@opentelemetry/sdk-node");
  const named = (env["OTEL_SERVICE_NAME"] ?? "") !== "";
  const sdk = startNodeSdk({
    resourceAttributes: {
      ...(named ? {} : { "service.name": service }),
      "service.namespace": "coffer",
      "service.version": version,
    },
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
    // Its own messages go to standard error.
    logLevel: env["OTEL_LOG_LEVEL"] ?? "warn",
  });
  setTracing(true);
  return {
    close: async () => {
      setTracing(false);
      await readWithin(() => sdk.shutdown(), flushMilliseconds);
    },
  };
}

/** Copies variables given by file into the process's own environment, and removes the files' names. */
function takeFiles(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const values = openTelemetryFromFiles(env);
  for (const [name, text] of Object.entries(values)) {
    process.env[name] = text;
    Reflect.deleteProperty(process.env, `${name}_FILE`);
  }
  return values;
}
