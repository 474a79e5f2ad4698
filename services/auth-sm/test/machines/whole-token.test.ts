import { createHash, hkdfSync, randomBytes } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, createToken, type Machine, newKeyPair } from "../support/machines.ts";
import { register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const path = "/api/sm/v1/bootstrap";

/** A one-time token that this side made, what is sent of it, and what a person was shown. */
async function createWholeToken() {
  const seed = randomBytes(32);
  const token = Buffer.from(hkdfSync("sha256", seed, "", "coffer/ott/auth/v1", 32)).toString("base64url");
  const token_hash = createHash("sha256").update(token).digest("hex");
  const { id } = await createToken(service, owner, [], { token_hash });
  return { id, token, whole: `cft1_${seed.toString("base64url")}` };
}

const { spki } = newKeyPair();
for (const [how, bodyWith] of [
  ["", (whole: string) => ({ token: whole, public_key: spki })],
  [" between blanks", (whole: string) => ({ token: ` ${whole}\r\n`, public_key: spki })],
  [" with what stood around it", (whole: string) => ({ token: `COFFER_TOKEN="${whole}"`, public_key: spki })],
  [" without a public key", (whole: string) => ({ token: whole })],
  [" with a public key that is none", (whole: string) => ({ token: whole, public_key: 7 })],
  [" with an id that is none", (whole: string) => ({ token: whole, public_key: spki, client_id: "x" })],
  [" in a text that is too long", (whole: string) => ({ token: `${" ".repeat(500)}${whole}`, public_key: spki })],
] as const)
  await t.test(`a token that was pasted whole${how} is refused and revoked`, async (t) => {
    const { id, token, whole } = await createWholeToken();
    const answer = await call(service, "POST", path, { body: bodyWith(whole) });
    t.equal(answer.status, 400);
    t.match(answer.body, { error: "invalid_request", message: /sent whole.*revoked/ });
    t.notMatch(answer.body.message, whole, "nothing of it is repeated");
    t.equal((await call(service, "POST", path, { body: { token, public_key: spki } })).status, 401);
    const record = await service.observer.record("the revocation", ({ action, target }) => {
      return action === "token.revoked" && target.id === id;
    });
    t.match(record, { reason: "sent_whole", actor: { type: "system" } });
    t.equal((await call(service, "POST", path, { body: bodyWith(whole) })).status, 400);
    await service.observer.record("the next attempt", ({ action, target, reason }) => {
      return action === "client.bootstrap.failed" && target.id === id && reason === "sent_whole";
    });
  });

await t.test("of a token that is pasted whole after it was used, the client is what must be revoked", async (t) => {
  const { id, token, whole } = await createWholeToken();
  const { key, spki } = newKeyPair();
  const { body } = await call(service, "POST", path, { body: { token, public_key: spki } });
  const answer = await call(service, "POST", path, { body: { token: whole, public_key: spki } });
  t.equal(answer.status, 400);
  t.match(answer.body, { error: "invalid_request", message: /revoke the client/ });
  const machine: Machine = { clientId: body.client_id, applicationId: body.application_id, key };
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 200);
  const record = await service.observer.record("the leak", ({ reason, target }) => {
    return reason === "sent_whole" && target.id === id;
  });
  t.match(record, { action: "client.bootstrap.failed", outcome: "failure", request: { status: 400 } });
});
