import { ServiceError } from "@coffer/errors";
import t, { type Test } from "tap";
import { z } from "zod";
import { type RefusedCall, route } from "../src/index.ts";
import { openRaw } from "./raw.ts";
import { person, type Person, rows, uid } from "./rows.ts";
import { startApp } from "./start-app.ts";

const secret = `/api/sm/v1/secrets/${uid}`;
const as = (name: string, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { authorization: `Bearer ${name}`, "content-type": "application/json" },
});

interface Refusal {
  path: string;
  status: number;
  caller: string | undefined;
  params: unknown;
}

/** Serves the rows and records every refusal that the app reports. */
async function recording(t: Test, onRefused?: () => Promise<void>) {
  const refusals: Refusal[] = [];
  const app = await startApp<Person | { kind: "anonymous" }>(t, rows, {
    onRefused: async (row, { caller, params }: RefusedCall<Person | { kind: "anonymous" }>, error) => {
      refusals.push({
        path: row.path,
        status: error.status,
        caller: caller?.kind === "person" ? caller.name : undefined,
        params: { ...params },
      });
      await onRefused?.();
    },
  });
  return { app, refusals };
}

await t.test("a refusal is recorded before its response is sent", async (t) => {
  let release = (): void => undefined;
  const recorded = new Promise<void>((resolve) => (release = resolve));
  const { app, refusals } = await recording(t, () => recorded);
  const connection = await openRaw(t, app.port);
  connection.socket.write(`GET ${secret.replace(uid, "x")} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann\r\n\r\n`);
  while (refusals.length === 0) await new Promise(setImmediate);
  // An earlier response on this connection would arrive before a later one on another.
  t.equal((await fetch(`${app.url}/api/things`)).status, 200);
  t.equal(connection.received(), "");
  release();
  t.match(await connection.until(/\}$/), /^HTTP\/1\.1 404 /);
  t.strictSame(refusals, [{ path: "/api/sm/v1/secrets/:uid", status: 404, caller: "ann", params: { uid: "x" } }]);
});

await t.test("a refusal has the caller if it was identified", async (t) => {
  const { app, refusals } = await recording(t);
  const put = (name: string, body: string) => fetch(app.url + secret, as(name, { method: "PUT", body }));
  await put("nobody", "{}");
  await put("blocked", "{}");
  await put("ann", "{}");
  await put("revoked", "{}");
  await put("ann", '{"name":"a"}');
  t.strictSame(
    refusals.map(({ status, caller }) => [status, caller]),
    [
      [401, undefined],
      [403, undefined],
      [400, "ann"],
      [401, "revoked"],
    ],
  );
});

await t.test("a refusal has query and body only if both were valid", async (t) => {
  const sent: unknown[] = [];
  const row = route({
    ...({ method: "PUT", path: "/api/things", bucket: "user", caller: person, status: 200 } as const),
    ...{ query: z.object({ limit: z.coerce.number() }), body: z.object({ name: z.string() }) },
    run: () => Promise.reject(new ServiceError("access_denied", "no access")),
  });
  const app = await startApp(t, [row], {
    onRefused: (_row, { query, body }) => Promise.resolve(void sent.push({ query, body })),
  });
  const put = (search: string, body: string) =>
    fetch(`${app.url}/api/things${search}`, as("ann", { method: "PUT", body }));
  await put("?limit=7", '{"name":"a","other":1}');
  await put("?limit=x", '{"name":"a"}');
  await put("?limit=7", "{");
  const nothing = { query: undefined, body: undefined };
  t.strictSame(sent, [{ query: { limit: 7 }, body: { name: "a" } }, nothing, nothing]);
});

await t.test("rate-limited and unmatched requests are not reported", async (t) => {
  const { app, refusals } = await recording(t);
  const bootstrap = (): Promise<Response> =>
    fetch(`${app.url}/api/sm/v1/bootstrap`, as("ann", { method: "POST", body: '{"name":"a"}' }));
  for (let i = 0; i < 5; i++) t.equal((await bootstrap()).status, 200);
  t.equal((await bootstrap()).status, 429);
  t.equal((await fetch(`${app.url}/api/sm/v1/nothing`, as("ann"))).status, 404);
  t.equal((await fetch(app.url + secret, { method: "OPTIONS" })).status, 404);
  t.strictSame(refusals, []);
});

await t.test("when a refusal cannot be recorded, the request fails instead", async (t) => {
  const away = await recording(t, () => Promise.reject(new ServiceError("unavailable", "the audit is away")));
  const answer = await fetch(away.app.url + secret.replace(uid, "x"), as("ann"));
  t.equal(answer.status, 503);
  t.match(await answer.json(), { error: "unavailable" });
  const broken = await recording(t, () => Promise.reject(new TypeError("a bug")));
  t.equal((await fetch(broken.app.url + secret.replace(uid, "x"), as("ann"))).status, 500);
});

await t.test("a revoked caller meets 401 before its body is read", async (t) => {
  const { app } = await recording(t);
  const patch = (name: string, body: string) => fetch(`${app.url}/api/things`, as(name, { method: "PATCH", body }));
  t.equal((await patch("revoked", "{not read")).status, 401);
  t.equal((await patch("ann", '{"name":"a"}')).status, 200);
});

await t.test("on a lazy row a caller is confirmed only before a refusal for the request's form", async (t) => {
  let confirmed = 0;
  const lazy = route({
    ...({ method: "PUT", path: "/api/lazy/:uid", bucket: "user", lazy: true, status: 200 } as const),
    caller: async (input) => {
      const found = await person(input, {});
      return "confirm" in found ? { ...found, confirm: () => (confirmed++, found.confirm()) } : found;
    },
    ...{ params: rows[0]?.params, body: rows[3]?.body },
    run: (_deps: object, call: { caller: Person }) => {
      if (call.caller.name === "absent") throw new ServiceError("not_found", "no such thing");
      if (call.caller.name === "denied") throw new ServiceError("access_denied", "no access");
      return Promise.resolve({});
    },
  });
  const app = await startApp(t, [lazy]);
  const put = async (name: string, body: string, id = uid): Promise<[number, number]> => {
    confirmed = 0;
    const { status } = await fetch(`${app.url}/api/lazy/${id}`, as(name, { method: "PUT", body }));
    return [status, confirmed];
  };
  t.strictSame(await put("ann", '{"name":"a"}'), [200, 0]);
  t.strictSame(await put("denied", '{"name":"a"}'), [403, 0]);
  t.strictSame(await put("ann", "{"), [400, 1]);
  t.strictSame(await put("ann", "{}"), [400, 1]);
  t.strictSame(await put("ann", '{"name":"a"}', "x"), [404, 1]);
  t.strictSame(await put("absent", '{"name":"a"}'), [404, 1]);
  t.strictSame(await put("ann", `{"name":"${"a".repeat(1024 * 1024)}"}`), [413, 1]);
  for (const body of ["{", "{}"]) t.strictSame(await put("revoked", body), [401, 1]);
  t.strictSame(await put("revoked", '{"name":"a"}', "x"), [401, 1]);
});
