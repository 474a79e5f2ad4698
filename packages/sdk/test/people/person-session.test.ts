import t from "tap";
import { type AuditPage, memoryKeeper, personClient, type PersonSession } from "../../src/index.ts";
import { json, startServer } from "../server/server.ts";

const account = { user: { id: "u", email: "a@example.com", name: null, created_at: "" }, organizations: [] };

function sessionAt(url: string, accessExpiresAt: number): PersonSession {
  return {
    url,
    user: { id: "u", email: "a@example.com", name: null },
    session_id: "s",
    access_token: "access-1",
    access_expires_at: accessExpiresAt,
    refresh_token: "refresh-1",
    refresh_expires_at: accessExpiresAt + 86_400,
    user_key: "",
    public_key: "",
    encrypted_private_key: "",
  };
}

/** A server that knows only `access-2`, and gives it for `refresh-1`. */
const start = (t: Parameters<typeof startServer>[0]): ReturnType<typeof startServer> =>
  startServer(t, (request, response) => {
    if (request.path === "/api/auth/refresh")
      json(response, 200, {
        access_token: "access-2",
        token_type: "Bearer",
        expires_in: 900,
        refresh_token: "refresh-2",
        refresh_expires_in: 86_400,
      });
    else if (request.headers.authorization === "Bearer access-2") json(response, 200, account);
    else json(response, 401, { error: "invalid_token", message: "expired" });
  });

async function pagesOf(pages: AsyncIterable<AuditPage>): Promise<AuditPage[]> {
  const all: AuditPage[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

await t.test("a token that is about to end is renewed before it is used, once for all that wait", async (t) => {
  const { url, received } = await start(t);
  const person = personClient(sessionAt(url, 1000), url, { now: () => 970_000 });
  await Promise.all([person.account(), person.account(), person.account()]);
  t.equal(received.filter(({ path }) => path === "/api/auth/refresh").length, 1);
  t.equal(received.length, 4);
});

await t.test("a token that the service refuses is renewed once, and the request sent again", async (t) => {
  const { url, received } = await start(t);
  const person = personClient(sessionAt(url, 1000), url, { now: () => 969_999 });
  t.match(await person.account(), account);
  t.same(
    received.map(({ path }) => path),
    ["/api/account", "/api/auth/refresh", "/api/account"],
  );
  t.equal(received[1]?.body, '{"refresh_token":"refresh-1"}');
});

await t.test("a session that has ended is an error, not a loop", async (t) => {
  const { url, received } = await startServer(t, (request, response) =>
    json(response, 401, {
      error: request.path === "/api/auth/refresh" ? "token_reused" : "invalid_token",
      message: "no",
    }),
  );
  await t.rejects(personClient(sessionAt(url, 9e9), url).account(), { code: "token_reused" });
  t.equal(received.length, 2);
});

await t.test("an answer that is not the service's does not replace the session", async (t) => {
  const answers: unknown[] = [{ status: "ok" }, { access_token: "a", expires_in: "900", refresh_token: "r" }];
  const { url } = await startServer(t, (request, response) => {
    if (request.path === "/api/auth/refresh") json(response, 200, answers.shift());
    else json(response, 401, { error: "invalid_token", message: "expired" });
  });
  const session = sessionAt(url, 9e9);
  let kept: PersonSession | undefined;
  const person = personClient(
    memoryKeeper(session, (changed) => (kept = changed)),
    url,
  );
  await t.rejects(person.account(), { code: "bad_answer", message: /no access_token/ });
  await t.rejects(person.account(), { code: "bad_answer", message: /no expires_in/ });
  t.equal(kept, undefined);
});

await t.test("the chosen organization goes with every request", async (t) => {
  const { url, received } = await start(t);
  await personClient(sessionAt(url, 9e9), url, { organization: "org-1" }).account();
  t.same(
    new Set(received.filter(({ path }) => path === "/api/account").map(({ headers }) => headers["x-coffer-org"])),
    new Set(["org-1"]),
  );
});

await t.test(
  "audit pages are followed to their end; pages that do not end, or do not name the chain's, are an error",
  async (t) => {
    const { url, received } = await startServer(t, (request, response) =>
      json(response, 200, {
        data: [{ seq: 1 }, { seq: 2 }],
        head: { seq: 6, hash: "h" },
        next_cursor: request.path.includes("cursor=b") ? null : request.path.includes("cursor=a") ? "b" : "a",
      }),
    );
    const pages = await pagesOf(personClient(sessionAt(url, 9e9), url).audit({ action: "secret.read" }));
    const page = { records: [{ seq: 1 }, { seq: 2 }], head: { seq: 6, hash: "h" } };
    t.same(pages, [page, page, page]);
    t.match(received[2]?.path, /limit=1000&action=secret.read&cursor=b/);

    for (const odd of [
      { data: [], head: null, next_cursor: "a" },
      { data: [], next_cursor: null },
      { data: [], head: { seq: "1" }, next_cursor: null },
    ]) {
      const { url } = await startServer(t, (_request, response) => json(response, 200, odd));
      await t.rejects(pagesOf(personClient(sessionAt(url, 9e9), url).audit()), { code: "bad_answer" });
    }

    let answered = 0;
    const endless = await startServer(t, (_request, response) => {
      answered += 1;
      const next_cursor = answered > 20 ? null : answered % 2 === 0 ? "a" : "b";
      json(response, 200, { data: [{ seq: 1 }], head: null, next_cursor });
    });
    await t.rejects(pagesOf(personClient(sessionAt(endless.url, 9e9), endless.url).audit()), { code: "bad_answer" });
    t.equal(answered, 3, "two cursors by turns");
  },
);
