import { randomUUID } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, bearer, createFolder, createMachine, createSecret, newKeyPair, secretBody } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { baseUrl, startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const now = Math.floor(service.clock.now().getTime() / 1000);
const present = (token: string | undefined) => call(service, "GET", "/api/sm/v1/secrets", { token });

await t.test("the token that the specification describes is let in", async (t) => {
  const claims = { sub: machine.clientId, aud: baseUrl, iat: now, exp: now + 3600 };
  t.equal((await present(bearer(machine, { claims }))).status, 200);
});

await t.test("every endpoint but bootstrap wants one", async (t) => {
  const endpoints: [string, string][] = [
    ["GET", "/secrets"],
    ["GET", "/secrets/aaaaaaaaaaaaaaaaaaaaaa"],
    ["POST", "/notation"],
    ["POST", "/secrets"],
    ["PUT", "/secrets/aaaaaaaaaaaaaaaaaaaaaa"],
    ["DELETE", "/secrets/aaaaaaaaaaaaaaaaaaaaaa"],
    ["GET", "/secrets/search?title=a"],
    ["GET", "/secrets/aaaaaaaaaaaaaaaaaaaaaa/fields/a"],
    ["GET", "/folders"],
    ["GET", "/client"],
  ];
  for (const [method, path] of endpoints) {
    const answer = await call(service, method, `/api/sm/v1${path}`);
    t.equal(answer.status, 401, `${method} ${path}`);
    t.match(answer.body, { error: "invalid_token", message: /./, request_id: /./ });
    t.equal(answer.headers.get("www-authenticate"), "Bearer");
  }
});

await t.test("a token that is expired, of an unknown client or badly signed is 401 with one message", async (t) => {
  const other = newKeyPair().key;
  const tokens = {
    expired: bearer(machine, { claims: { iat: now - 600, exp: now - 1 } }),
    unknown: bearer({ clientId: randomUUID(), key: machine.key }),
    foreignKey: bearer({ clientId: machine.clientId, key: other }),
    otherAudience: bearer(machine, { claims: { aud: "https://elsewhere.test" } }),
    twoHours: bearer(machine, { claims: { iat: now, exp: now + 3601 } }),
    noExpiry: bearer(machine, { claims: { exp: undefined } }),
    none: `${bearer(machine, { header: { alg: "none" } })
      .split(".")
      .slice(0, 2)
      .join(".")}.`,
    garbage: "a.b.c",
  };
  const messages = new Set<string>();
  for (const [name, token] of Object.entries(tokens)) {
    const answer = await present(token);
    t.equal(answer.status, 401, name);
    t.equal(answer.body.error, "invalid_token", name);
    messages.add(answer.body.message);
  }
  t.equal(messages.size, 1, "which check failed is not said");
});

await t.test(
  "a refused token of a client that exists is in its organization's audit, one of an unknown client is not",
  async (t) => {
    await present(bearer({ clientId: machine.clientId, key: newKeyPair().key }));
    const record = await service.observer.record("the refusal", ({ action, reason }) => {
      return action === "client.auth.failed" && reason === "signature";
    });
    t.match(record, {
      outcome: "failure",
      actor: { type: "anonymous" },
      target: { type: "client", id: machine.clientId },
    });
    const nobody = randomUUID();
    await present(bearer({ clientId: nobody, key: machine.key }));
    await ask(service, machine, "GET", "/secrets", { headers: { "x-request-id": "after-nobody" } });
    await service.observer.record("a later record", ({ request }) => request.id === "after-nobody");
    t.notMatch(JSON.stringify(service.observer.records), nobody);
  },
);

await t.test(
  "a revoked client is refused at its next request on every endpoint, whatever else is wrong with it",
  async (t) => {
    const doomed = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
    const uid = await createSecret(service, doomed, folder);
    const token = bearer(doomed);
    t.equal((await present(token)).status, 200);
    const path = `/api/org/applications/${doomed.applicationId}/clients/${doomed.clientId}`;
    t.equal((await call(service, "DELETE", path, { token: owner.token })).status, 204);
    const attempts: [string, string, unknown][] = [
      ["GET", "/secrets", undefined],
      ["GET", "/secrets?limit=0", undefined],
      ["GET", `/secrets/${uid}`, undefined],
      ["GET", "/secrets/not-a-uid", undefined],
      ["GET", `/secrets/${uid}/fields/a`, undefined],
      ["GET", "/secrets/search?title=a", undefined],
      ["GET", "/secrets/search", undefined],
      ["POST", "/notation", { notation: "coffer://a/b/field/c" }],
      ["POST", "/notation", { notation: "nonsense" }],
      ["POST", "/notation", "{"],
      ["POST", "/secrets", secretBody(folder)],
      ["POST", "/secrets", {}],
      ["PUT", `/secrets/${uid}`, { encrypted_payload: sealed(), wrapped_dek: sealed() }],
      ["DELETE", `/secrets/${uid}`, undefined],
      ["GET", "/folders", undefined],
      ["GET", "/client", undefined],
    ];
    for (const [method, below, body] of attempts) {
      const answer = await call(service, method, `/api/sm/v1${below}`, { token, body });
      t.equal(answer.status, 401, `${method} ${below}`);
      t.equal(answer.body.error, "invalid_token");
    }
  },
);

await t.test("a client expires at its time, also with a token that was let in before", async (t) => {
  const client_expires_at = new Date(service.clock.now().getTime() + 120_000).toISOString();
  const mortal = await createMachine(service, owner, [], { client_expires_at });
  const token = bearer(mortal);
  t.equal((await present(token)).status, 200);
  service.clock.stop();
  service.clock.advance(new Date(client_expires_at).getTime() - service.clock.now().getTime() - 1);
  t.equal((await present(token)).status, 200, "a millisecond before");
  service.clock.advance(1);
  t.equal((await present(token)).status, 401, "at the time itself");
});

await t.test("a revoked grant ends access at the next request", async (t) => {
  const reader = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  const uid = await createSecret(service, machine, folder);
  const token = bearer(reader, { now: service.clock.now() });
  const read = () => call(service, "GET", `/api/sm/v1/secrets/${uid}`, { token });
  t.equal((await read()).status, 200);
  const path = `/api/org/applications/${reader.applicationId}/clients/${reader.clientId}/folders/${folder}`;
  t.equal((await call(service, "DELETE", path, { token: owner.token })).status, 204);
  t.equal((await read()).status, 403);
});

await t.test("a client sees itself and its folders", async (t) => {
  const token = bearer(machine, { now: service.clock.now() });
  const client = await call(service, "GET", "/api/sm/v1/client", { token });
  t.strictSame(Object.keys(client.body).sort(), [
    "application_id",
    "client_id",
    "expires_at",
    "folders",
    "name",
    "org_id",
  ]);
  t.match(client.body, {
    client_id: machine.clientId,
    expires_at: null,
    folders: [{ id: folder, permission: "write" }],
  });
  const folders = await call(service, "GET", "/api/sm/v1/folders", { token });
  t.match(folders.body.data, [
    { id: folder, permission: "write", key_version: 1, encrypted_key: null, encrypted_key_alg: null },
  ]);
});
