import { randomBytes, randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { bearer, createMachine, newKeyPair } from "../support/machines.ts";
import { beginLogin, newEmail, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// An unknown caller belongs to no organization and no audit chain: there are a log line and a metric.

const service = await startAuthSm(t);
const { clock } = service;
const replica = await service.replica({ COFFER_LOG_LEVEL: "info" });
const owner = await register(service, { orgName: "Example" });

const failures = async (reason: string): Promise<number> => {
  const line = new RegExp(`^coffer_auth_failures_total\\{service="auth-sm",reason="${reason}"\\} (\\d+)$`, "m");
  return Number(line.exec(await replica.metrics())?.[1] ?? 0);
};
const logged = (message: string, requestId: string): boolean =>
  replica.lines.some((line) => line.includes(message) && line.includes(requestId));
const bootstrap = (token: string, requestId: string) =>
  call(replica, "POST", "/api/sm/v1/bootstrap", {
    body: { token, public_key: newKeyPair().spki },
    headers: { "x-request-id": requestId },
  });

await t.test("a bootstrap with an unknown token", async (t) => {
  const answer = await bootstrap(randomBytes(32).toString("base64url"), "bootstrap-of-nobody");
  t.equal(answer.status, 401);
  t.equal(await failures("unknown_token"), 1);
  t.ok(logged("bootstrap with an unknown one-time token", "bootstrap-of-nobody"));
});

await t.test("a bootstrap with an unknown token that was pasted whole, of which nothing is logged", async (t) => {
  const before = await failures("unknown_token");
  const token = `cft1_${randomBytes(32).toString("base64url")}`;
  t.equal((await bootstrap(token, "whole-token-of-nobody")).status, 400);
  t.equal(await failures("unknown_token"), before + 1);
  t.ok(logged("an unknown one-time token was sent whole", "whole-token-of-nobody"));
  t.notOk(replica.lines.some((line) => line.includes(token.slice(5))));
});

await t.test("a token of an unknown client", async (t) => {
  const present = (token: string, requestId: string) =>
    call(replica, "GET", "/api/sm/v1/secrets", { token, headers: { "x-request-id": requestId } });
  const nobody = { clientId: randomUUID(), key: newKeyPair().key };
  t.equal((await present(bearer(nobody), "token-of-nobody")).status, 401);
  t.equal(await failures("unknown_client"), 1);
  t.ok(logged("a token of an unknown client", "token-of-nobody"));
  const machine = await createMachine(service, owner, []);
  t.equal((await present(bearer({ ...machine, key: nobody.key }), "badly-signed")).status, 401);
  t.strictSame([await failures("signature"), await failures("unknown_client")], [1, 1], "what is known is told apart");
  t.notOk(logged("a token of an unknown client", "badly-signed"));
});

await t.test("a login for an unknown e-mail", async (t) => {
  const { start } = await beginLogin(
    replica,
    { email: newEmail(), password: "whatever" },
    { "x-request-id": "login-of-nobody" },
  );
  t.equal(start.status, 200);
  clock.advance(61_000);
  // Either replica may be the one that finds it unfinished: ask until it is this one.
  await until("it is counted and logged here", async () => {
    if ((await failures("unknown_email")) > 0) return replica.lines.some((line) => line.includes("an unknown e-mail"));
    await beginLogin(replica, { email: newEmail(), password: "whatever" });
    clock.advance(61_000);
    return false;
  });
});
