// A relay in its own process, which reports each delivery to its parent and can be killed at any
// time. Arguments: url, schema, and "held" for deliveries that are never acknowledged.
import { createDatabase } from "@coffer/postgres";
import { startRelay } from "../src/index.ts";
import { recordedTelemetry } from "../../postgres/test/support.ts";

const [url = "", schema = "", mode] = process.argv.slice(2);
const { telemetry } = recordedTelemetry();
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
