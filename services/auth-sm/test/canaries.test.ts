import { randomBytes, randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { routes } from "../src/routes.ts";
import { canariesOf, seenIn } from "./canaries/canaries.ts";
import { title, useEverything } from "./canaries/journey.ts";
import { record } from "./canaries/recorder.ts";
import { storedInPostgres, storedInRedis } from "./canaries/stored.ts";
import { startWatched } from "./canaries/watched-service.ts";
import { call } from "./support/call.ts";
import { bearer, createFolder, createMachine, createToken, secretBody } from "./support/machines.ts";
import { register, sealed } from "./support/people.ts";

// What is secret goes through every endpoint, in what is accepted and in what is refused; then it
// is looked for.

const watched = await startWatched(t);
const { url, exchanges } = await record(t, watched);
const service = { ...watched, url };
const { observer } = watched;
const secretText = (): string => `Canary${randomBytes(15).toString("base64url")}`;

const matches = routes.map(({ method, path }) => ({
  endpoint: `${method} ${path}`,
  pattern: new RegExp(`^${method} ${path.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]+")}$`),
}));
/** The endpoint that a request was for: of several that fit, the one with the fewest parameters. */
function endpointOf({ method, path }: { method: string; path: string }): string | undefined {
  const fitting = matches.filter(({ pattern }) => pattern.test(`${method} ${path.replace(/\?.*/, "")}`));
  return fitting.sort((one, other) => one.endpoint.split(":").length - other.endpoint.split(":").length)[0]?.endpoint;
}

await useEverything(service);
const owner = await register(service, { orgName: "Refusals" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
await createToken(service, owner, [{ folder_id: folder, permission: "read", encrypted_folder_key: sealed() }]);

await t.test("every endpoint was used for its purpose", (t) => {
  const used = new Set(exchanges.filter(({ status }) => status < 300).map(endpointOf));
  t.strictSame(
    matches.map(({ endpoint }) => endpoint).filter((endpoint) => !used.has(endpoint)),
    [],
  );
  t.end();
});

await t.test("each endpoint refuses secrets in the wrong place", async (t) => {
  const fields = ["email", "registration_request", "registration_record", "start_login_request", "login_id"];
  fields.push(
    "finish_login_request",
    "otp",
    "proof",
    "recovery_id",
    "refresh_token",
    "token",
    "token_hash",
    "entry",
    "sealed",
    "public_key",
  );
  fields.push("encrypted_user_key", "encrypted_private_key", "encrypted_key", "encrypted_payload", "wrapped_dek");
  fields.push("title", "title_encrypted", "fields", "notation", "encrypted_keys", "secrets", "folders", "role");
  for (const { method, path } of routes) {
    const at = path.replace(/:\w+/g, () => randomUUID());
    const body = () => Object.fromEntries(fields.map((field) => [field, `${secretText()} \u0000`]));
    const query = `?token=${secretText()}&title=${title()}&cursor=${secretText()}&limit=${secretText()}`;
    const cookie = `session=${secretText()}`;
    const asked = (token: string, sent: unknown, type = "application/json") =>
      call(service, method, at + query, {
        token,
        ...(method === "GET" ? {} : { body: sent }),
        headers: { cookie, ...(method === "GET" ? {} : { "content-type": type }) },
      });
    const mine = path.startsWith("/api/sm/") ? bearer(machine) : owner.token;
    const answers = [await asked(secretText(), body()), await asked(`${mine}${secretText()}`, body())];
    // Not with what ends the session that asks, and needs no body.
    if (method !== "DELETE" && !path.endsWith("/logout")) {
      answers.push(await asked(mine, body()), await asked(mine, `{"title": "${title()}`));
      answers.push(await asked(mine, `title=${title()}`, "application/x-www-form-urlencoded"));
    }
    t.ok(
      answers.every(({ status }) => status < 500),
      `${method} ${path}`,
    );
  }
});

await t.test("late refusals do not quote secrets either", async (t) => {
  const uid = `A${randomBytes(15).toString("base64url")}A`;
  const sm = (method: string, path: string, body?: object) =>
    call(service, method, `/api/sm/v1${path}`, { token: bearer(machine), body });
  const content = () => ({ title: title(), title_encrypted: sealed(), fields: { password: sealed() } });
  const writer = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const twice = () =>
    call(service, "POST", "/api/sm/v1/secrets", {
      token: bearer(writer),
      body: secretBody(folder, { uid, ...content() }),
    });
  t.strictSame([(await twice()).status, (await twice()).status], [201, 400]);
  t.equal((await sm("POST", "/secrets", secretBody(folder, content()))).status, 403);
  t.equal((await sm("PUT", `/secrets/${uid}`, secretBody(folder, content()))).status, 403);
  t.equal(
    (await sm("POST", "/notation", { notation: `coffer://nowhere/${encodeURIComponent(title())}/field/a` })).status,
    404,
  );
  const taken = { body: { id: folder, name: "taken", encrypted_key: sealed() }, token: owner.token };
  t.equal((await call(service, "POST", "/api/org/folders", taken)).status, 409);
  t.equal((await call(service, "GET", `/api/nowhere/${secretText()}?token=${secretText()}`)).status, 404);
});

await t.test("nothing of it is found but where it belongs", async (t) => {
  const last = randomUUID();
  await call(service, "DELETE", `/api/org/folders/${folder}`, {
    token: owner.token,
    headers: { "x-request-id": last },
  });
  await observer.record("the last record", ({ request }) => request.id === last);
  await until("an empty outbox", async () => (await storedInPostgres(watched.postgres)).get("outbox.payload") === "");
  const canaries = canariesOf(exchanges);
  t.ok(canaries.length > 1000, `${canaries.length} values`);
  const said = await watched.said();
  const places = {
    ...said,
    audit: JSON.stringify(observer.records),
    "the bus": JSON.stringify([observer.revocations, observer.memberships, observer.folderNews]),
    Redis: await storedInRedis(watched.redis),
    refusals: exchanges
      .filter(({ status }) => status >= 400)
      .map(({ answer }) => answer)
      .join("\n"),
  };
  for (const [place, text] of Object.entries(places)) {
    const seen = seenIn(text, canaries).map(({ field, value }) => `${field}: ${value}`);
    t.strictSame(seen, [], place);
  }
  const homes = new Set(canaries.flatMap((canary) => [...canary.homes]));
  homes.delete("");
  for (const [column, text] of await storedInPostgres(watched.postgres)) {
    const seen = seenIn(text, canaries);
    const strange = seen.filter((canary) => !canary.homes.has(column));
    t.strictSame(
      strange.map(({ field, value }) => `${field}: ${value}`),
      [],
      column,
    );
    if (seen.length > 0) homes.delete(column);
  }
  t.strictSame([...homes], [], "and it is found there");
  // What may be found is: each of the places was looked at as it is.
  for (const place of ["log", "log of NATS", "audit", "refusals"] as const)
    t.ok(places[place].includes(last), `the request's id in: ${place}`);
  t.ok(said["log of Postgres"].includes("folders_pkey"), "the failed insert in the log of Postgres");
  t.ok(places.traces.includes('"/api/sm/v1/secrets/{uid}"'), "the endpoint in the traces");
  t.match(said["log of Redis"], /Ready to accept connections[^]*Accepted/, "connections in the log of Redis");
  t.match(places.metrics, /http_route="\/api\/sm\/v1\/secrets\/\W?uid\W?"/, "the endpoint in the metrics");
  t.ok(places.Redis.includes("coffer:"), "what Redis is there for");
});
