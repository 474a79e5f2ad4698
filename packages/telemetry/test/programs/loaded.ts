// Prints the modules of the OpenTelemetry SDK that a service without tracing has loaded: none.
import { registerHooks } from "node:module";

const loaded: string[] = [];
registerHooks({
  load: (url, context, next) => {
    loaded.push(url);
    return next(url, context);
  },
});
const { startTracing, createTelemetry, span } = await import("../../src/index.ts");
await startTracing("vaults", process.env);
createTelemetry({ service: "vaults", level: "silent" });
span("off", {}, "server", () => undefined);
const packages = new Set(loaded.flatMap((url) => /node_modules\/(@opentelemetry\/[^/]+)/.exec(url)?.[1] ?? []));
process.stdout.write(JSON.stringify({ count: loaded.length, packages: [...packages] }));
