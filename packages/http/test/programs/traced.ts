// An app with tracing answers three requests of one trace. Prints the log of its operation.
import { createLimiter, parseTrustedProxies } from "@coffer/ratelimit";
import { createTelemetry, startTracing } from "@coffer/telemetry";
import { anyone, createApp, route, serve } from "../../src/index.ts";

const [redis = "", traceparent = "", canary = ""] = process.argv.slice(2);
const tracing = await startTracing("test", process.env);
const telemetry = createTelemetry({ service: "test" });
const limits = { strict: 5, standard: 60, user: 300 };
const limiter = createLimiter({ redis, limits, windowSeconds: 60, replicas: 1, metrics: telemetry.metrics });
const row = { method: "GET", bucket: "user", caller: anyone, status: 200 } as const;
const app = createApp({
  service: "test",
  routes: [
    route({
      ...row,
      path: "/api/works/:id",
      run: () => {
        telemetry.log.info("operating");
        return Promise.resolve({});
      },
    }),
    route({ ...row, path: "/api/fails", run: () => Promise.reject(new Error("a bug")) }),
  ],
  deps: {},
  limiter,
  trustedProxies: parseTrustedProxies([]),
  corsOrigins: [],
  telemetry,
});
const serving = await serve(app, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
const headers = { traceparent, authorization: `Bearer ${canary}` };
for (const path of [`/api/works/${canary}?token=${canary}`, `/api/nothing/${canary}`, "/api/fails"])
  await (await fetch(serving.url + path, { headers })).arrayBuffer();
await serving.close();
limiter.close();
await tracing.close();
