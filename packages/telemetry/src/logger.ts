import { type Bindings, type ChildLoggerOptions, type DestinationStream, type Logger, pino } from "pino";
import { redactFieldsOf } from "./redact.ts";
import { scrub } from "./scrub.ts";
import { activeTrace } from "./active-trace.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";

/**
 * A logger of JSON lines with time, level, service and, inside a span, trace and span id. Redacts fields
 * with secret names at every depth, also of child loggers, and credentials in any text of the line.
 */
export function createLogger(service: string, level: LogLevel, destination: DestinationStream): Logger {
  const options = {
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      bindings: redactFieldsOf,
      log: redactFieldsOf,
    },
    // The formatters have described errors already.
    serializers: { err: (described: unknown) => described },
    hooks: { streamWrite: scrub },
    mixin: activeTrace,
  };
  return redactBindings(pino(options, destination));
}

/** pino applies `formatters.bindings` to the root logger only; children inherit these two methods from it. */
function redactBindings(logger: Logger): Logger {
  const inherited = Object.getPrototypeOf(logger) as Logger; // where pino has its methods
  logger.child = function (this: Logger, bindings: Bindings, options?: ChildLoggerOptions<string>) {
    return inherited.child.call(this, redactFieldsOf(bindings), options);
  } as Logger["child"]; // children with levels of their own are not used
  logger.setBindings = function (this: Logger, bindings) {
    inherited.setBindings.call(this, redactFieldsOf(bindings));
  };
  return logger;
}
