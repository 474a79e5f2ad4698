// Two services in one process with tracing on: prints what each logs inside its span.
import { type ServiceName, signingKeys } from "@coffer/events";
import { createTelemetry, span, startTracing } from "@coffer/telemetry";
import { type Bus, connectBus } from "../../src/index.ts";
import { event } from "../buses.ts";

const [url = "", passwordOfAuth = "", passwordOfVaults = ""] = process.argv.slice(2);
const tracing = await startTracing("test", process.env);

function open(service: ServiceName, password: string): [Bus, (message: string) => void] {
  const telemetry = createTelemetry({ service });
  const bus = connectBus({ url, service, user: service, password, telemetry });
  return [bus, (message) => telemetry.log.info(message)];
}

const [auth, logAuth] = open("auth-sm", passwordOfAuth);
const [vaults, logVaults] = open("vaults", passwordOfVaults);
auth.reply(signingKeys, () => {
  logAuth("answering");
  return { keys: [] };
});
const consumed = Promise.withResolvers<undefined>();
vaults.subscribe(event, () => {
  logVaults("consuming");
  consumed.resolve(undefined);
});
await Promise.all([auth, vaults].map((bus) => new Promise((resolve) => bus.onConnect(() => resolve(undefined)))));
await span("work", {}, "internal", async () => {
  logVaults("requesting");
  await vaults.request(signingKeys, {});
  auth.publish(event, { text: "x" });
});
await consumed.promise;
await Promise.all([auth.close(), vaults.close()]);
await tracing.close();
