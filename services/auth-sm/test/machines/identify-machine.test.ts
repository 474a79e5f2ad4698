import { randomUUID } from "node:crypto";
import { connectBus } from "@coffer/bus";
import { identifyMachine } from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { bearer, createMachine, newKeyPair } from "../support/machines.ts";
import { register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Scanned" });
const machine = await createMachine(service, owner, []);
const { body: org } = await call(service, "GET", "/api/org", { token: owner.token });
const telemetry = createTelemetry({ service: "scanner", level: "silent" });
const credentials = service.nats.credentials.scanner;
const bus = connectBus({ url: service.nats.url, service: "scanner", ...credentials, telemetry });
t.teardown(() => bus.close());
await until("the bus", () => bus.connected);

function requestOf(id = randomUUID(), ip = "203.0.113.9") {
  const time = service.clock.now().toISOString();
  return { id, ip, time, method: "POST", route: "/api/scanner/scan", user_agent: "ci/1" };
}
const identify = (token: string, request = requestOf()) =>
  bus.request(identifyMachine, { token, request }, { timeoutMilliseconds: 20_000 });

await t.test("the scanner learns which client of which organization sent a token", async (t) => {
  t.strictSame(await identify(bearer(machine)), {
    client_id: machine.clientId,
    org_id: org.id,
    application_id: machine.applicationId,
  });
});

await t.test("what the Secrets Manager refuses is refused: 401, with the same record in the audit", async (t) => {
  const now = Math.floor(service.clock.now().getTime() / 1000);
  const tokens = {
    signature: bearer({ clientId: machine.clientId, key: newKeyPair().key }),
    expired: bearer(machine, { claims: { iat: now - 600, exp: now - 1 } }),
    audience: bearer(machine, { claims: { aud: "https://elsewhere.test" } }),
    lifetime: bearer(machine, { claims: { iat: now, exp: now + 3601 } }),
  };
  for (const [reason, token] of Object.entries(tokens)) {
    const request = requestOf();
    await t.rejects(identify(token, request), { code: "invalid_token" }, reason);
    const record = await service.observer.record(reason, (each) => each.request.id === request.id);
    t.match(record, {
      org_id: org.id,
      action: "client.auth.failed",
      outcome: "failure",
      reason,
      actor: { type: "anonymous" },
      target: { type: "client", id: machine.clientId },
      source: { ip: request.ip, user_agent: "ci/1" },
      request: { id: request.id, method: "POST", route: "/api/scanner/scan", status: 401 },
    });
  }
  for (const token of [
    owner.token,
    "a.b.c",
    "",
    "x y",
    "x".repeat(20_000),
    bearer({ ...machine, clientId: randomUUID() }),
  ])
    await t.rejects(identify(token), { code: "invalid_token" });
});

await t.test("a client that was revoked or has expired is refused, and its attempt is recorded", async (t) => {
  const revoked = await createMachine(service, owner, []);
  await identify(bearer(revoked));
  const path = `/api/org/applications/${revoked.applicationId}/clients/${revoked.clientId}`;
  t.equal((await call(service, "DELETE", path, { token: owner.token })).status, 204);
  const client_expires_at = new Date(service.clock.now().getTime() + 60_000).toISOString();
  const mortal = await createMachine(service, owner, [], { client_expires_at });
  const tokens = [bearer(revoked), bearer(mortal)];
  service.clock.advance(61_000);
  for (const token of tokens) {
    const request = requestOf();
    await t.rejects(identify(token, request), { code: "invalid_token" });
    const record = await service.observer.record("the attempt", (each) => each.request.id === request.id);
    t.match(record, { org_id: org.id, action: "client.auth.failed", outcome: "failure", actor: { type: "client" } });
  }
});

await t.test(
  "a client that is bound to addresses is refused from another one, and its attempt is recorded",
  async (t) => {
    const bound = await createMachine(service, owner, [], { allowed_cidrs: ["127.0.0.0/8", "::1/128"] });
    t.match(await identify(bearer(bound), requestOf(randomUUID(), "127.0.0.1")), { client_id: bound.clientId });
    const request = requestOf();
    await t.rejects(identify(bearer(bound), request), { code: "access_denied" });
    const record = await service.observer.record("the denial", (each) => each.request.id === request.id);
    t.match(record, {
      org_id: org.id,
      action: "client.access.denied",
      outcome: "denied",
      actor: { type: "client", id: bound.clientId, application_id: bound.applicationId },
      target: { type: "client", id: bound.clientId },
      request: { route: "/api/scanner/scan", status: 403 },
    });
  },
);

await t.test("no other service may call it", async (t) => {
  const vaults = connectBus({
    url: service.nats.url,
    service: "vaults",
    ...service.nats.credentials.vaults,
    telemetry: createTelemetry({ service: "vaults", level: "silent" }),
  });
  t.teardown(() => vaults.close());
  await until("the bus", () => vaults.connected);
  const asked = vaults.request(
    { ...identifyMachine, callers: ["vaults"] },
    { token: bearer(machine), request: requestOf() },
  );
  await t.rejects(asked, { code: "unavailable" });
});
