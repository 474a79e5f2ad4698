// A relay in a process of its own, which tells its parent of each delivery and can be killed at any moment.
// Arguments: url, schema, and "held" when deliveries arrive but are never acknowledged.
import { createDatabase, startRelay } from "../src/index.ts";
import { keptTelemetry } from "./support.ts";

const [url = "", schema = "", mode] = process.argv.slice(2);
const { telemetry } = keptTelemetry();
const database = createDatabase({ url, schema, telemetry });
startRelay({
  database,
  telemetry,
  deliverMilliseconds: 60_000,
  deliver: (_, payloads) => {
    process.send?.(payloads);
    return mode === "held" ? new Promise(() => undefined) : Promise.resolve();
  },
});
