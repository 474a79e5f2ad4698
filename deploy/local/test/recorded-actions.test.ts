import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { auditActions } from "@coffer/contract";
import { auditRecorders, mayRecord } from "@coffer/events";
import t from "tap";

const services = new URL("../../../services/", import.meta.url).pathname;

/** The actions that the sources of a service name. */
function actionsNamedBy(service: string): string[] {
  const source = join(services, service, "src");
  if (!existsSync(source)) return [];
  const texts = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(source, path), "utf8"));
  return auditActions.filter((action) => texts.some((text) => text.includes(`"${action}"`)));
}

void t.test("siem-forwarder accepts each action that the sources of a service name: else its record is parked", (t) => {
  for (const service of auditRecorders)
    for (const action of actionsNamedBy(service)) t.ok(mayRecord(service, action), `${service}: ${action}`);
  t.ok(actionsNamedBy("auth-sm").length > 20 && actionsNamedBy("vaults").length > 10);
  t.end();
});

void t.test("each action of the contract is recorded by the sources of a service that may record it", (t) => {
  // siem-forwarder appends its own records without a subject.
  const ofForwarder = actionsNamedBy("siem-forwarder");
  for (const action of auditActions) {
    const recorders = auditRecorders.filter((service) => actionsNamedBy(service).includes(action));
    t.ok(recorders.some((service) => mayRecord(service, action)) || ofForwarder.includes(action), action);
  }
  t.end();
});
