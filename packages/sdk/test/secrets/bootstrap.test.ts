import { box, contexts, encodeBase64, newAccessToken, readAccessToken } from "@coffer/crypto";
import t from "tap";
import { bootstrap, type MachineConfiguration } from "../../src/index.ts";
import { historyAnswer, invite, newFolder, seqOf, takeJoin } from "../server/machine.ts";
import { json, type Received, startServer } from "../server/server.ts";

const date = "Fri, 20 Nov 2026 10:00:00 GMT";
const there = Date.parse(date);

/** A service with one unspent token; `lose` says of which requests the answer is lost. */
async function setUp(t: Parameters<typeof startServer>[0], lose: (request: Received, count: number) => boolean) {
  const folder = newFolder("production", 3);
  const token = newAccessToken();
  const { token: sent, wrapKey } = await readAccessToken(token);
  await invite(folder, await readAccessToken(token));
  const sealed = await box(wrapKey, folder.key, contexts.sharedFolderKey(folder.id));
  let owner: string | undefined;
  /** The addresses that the service says are its own; it says nothing while there are none. */
  const own: string[] = [];
  const joins: Promise<void>[] = [];
  const server = await startServer(t, (request, response, count) => {
    const [, claims = ""] = (request.headers.authorization ?? "").split(".");
    const known = owner !== undefined && Buffer.from(claims, "base64url").toString().includes(owner);
    const refused = { error: "invalid_token", message: "no" };
    const answer = (): [number, unknown] => {
      if (request.path === "/.well-known/jwks.json")
        return [200, own.length === 0 ? { keys: [] } : { keys: [], base_urls: own }];
      if (request.path === "/api/sm/v1/bootstrap") {
        const body = JSON.parse(request.body) as Record<string, string>;
        if (owner !== undefined || body["token"] !== sent) return [401, refused];
        owner = body["client_id"];
        return [200, { client_id: owner, application_id: "a", encrypted_folder_keys: { [folder.id]: sealed } }];
      }
      if (!known) return [401, refused];
      const page = historyAnswer(request.path);
      if (page !== undefined && request.method === "POST") {
        joins.push(takeJoin(folder, (JSON.parse(request.body) as { entry: string }).entry));
        return [201, {}];
      }
      if (page !== undefined) return [200, page];
      if (request.path === "/api/sm/v1/client") return [200, { client_id: owner, application_id: "a", org_id: "o" }];
      const { id, name, permission, keyVersion } = folder;
      const view = {
        id,
        name,
        permission,
        key_version: keyVersion,
        encrypted_key: sealed,
        encrypted_key_alg: "box-token",
        history_seq: seqOf(folder),
      };
      return [200, { data: [view] }];
    };
    const [status, body] = answer();
    void Promise.all(joins).then(() => {
      if (lose(request, count)) response.destroy();
      else json(response, status, body, { date });
    });
  });
  const saved: MachineConfiguration[] = [];
  const save = (configuration: MachineConfiguration): Promise<void> => {
    saved.push(structuredClone(configuration));
    return Promise.resolve();
  };
  const posts = (): number => server.received.filter(({ path }) => path.endsWith("/bootstrap")).length;
  return { ...server, own, folder, token, saved, save, posts, options: { now: () => there, attempts: 1 } };
}

await t.test("the identity is saved before the token is spent, and the folder keys after", async (t) => {
  const { url, token, saved, save, folder, options, received } = await setUp(t, () => false);
  const orderedSave = (configuration: MachineConfiguration): Promise<void> => {
    const spent = received.some(({ path }) => path.endsWith("/bootstrap"));
    if (!spent) t.equal(configuration.wrap_key === undefined, false);
    return save(configuration);
  };
  const machine = await bootstrap({ url, token, save: orderedSave }, options);
  t.match(saved[0], { client_id: machine.client_id, private_key: machine.private_key, wrap_key: String, folders: [] });
  t.notOk(saved[0]?.application_id);
  t.match(machine.folders, [{ id: folder.id, key_version: 3, key: encodeBase64(folder.key) }]);
  t.equal(machine.wrap_key, undefined, "what is opened needs no wrap key any more");
  t.notMatch(JSON.stringify(saved), token.slice(5));
  t.notOk(
    received.some(({ body }) => body.includes("cft1_")),
    "the text that was shown is never sent",
  );
});

await t.test("when only the answer to the token is lost, the same call finds out and finishes", async (t) => {
  const { url, token, save, posts, options } = await setUp(t, ({ path }) => path.endsWith("/bootstrap"));
  const machine = await bootstrap({ url, token, save }, options);
  t.equal(machine.folders.length, 1);
  t.equal(posts(), 1, "the token is sent once");
});

await t.test("when everything after the token is lost, the next call finishes, without the token", async (t) => {
  let cut = true;
  const { url, token, save, saved, posts, options } = await setUp(t, ({ path }) => cut && path.startsWith("/api/sm"));
  await t.rejects(bootstrap({ url, token, save }, options), { code: "network", message: /nothing is lost/ });
  cut = false;
  const machine = await bootstrap({ url, pending: saved.at(-1), save }, options);
  t.equal(machine.client_id, saved[0]?.client_id);
  t.equal(machine.folders.length, 1);
  t.equal(posts(), 1);
});

await t.test("a call that was cut before the token arrived starts over with the same identity", async (t) => {
  const { url, token, save, saved, options } = await setUp(t, () => false);
  const closed = await startServer(t, (request, response) =>
    request.path === "/.well-known/jwks.json" ? json(response, 200, { keys: [] }, { date }) : response.destroy(),
  );
  await t.rejects(bootstrap({ url: closed.url, token, save }, options), { code: "network" });
  await t.rejects(bootstrap({ url, pending: saved.at(-1), save }, options), {
    code: "configuration",
    message: /give the one-time token again/,
  });
  const machine = await bootstrap({ url, token, pending: saved.at(-1), save }, options);
  t.equal(machine.client_id, saved[0]?.client_id);
});

await t.test("a used or unknown token is not authenticated, from any caller", async (t) => {
  const { url, token, save, options } = await setUp(t, () => false);
  await bootstrap({ url, token, save }, options);
  await t.rejects(bootstrap({ url, token, save }, options), { code: "invalid_token" });
  await t.rejects(bootstrap({ url, token: newAccessToken(), save }, options), { code: "invalid_token" });
});

await t.test("a clock more than a minute wrong stops it before anything is saved or spent", async (t) => {
  const { url, token, save, saved, posts } = await setUp(t, () => false);
  for (const seconds of [61, -61]) {
    const now = (): number => there + seconds * 1000;
    await t.rejects(bootstrap({ url, token, save }, { now }), {
      code: "configuration",
      message: /61 s (ahead|behind)/,
    });
  }
  t.same([saved.length, posts()], [0, 0]);
  await bootstrap({ url, token, save }, { now: () => there + 60_000 });
});

await t.test("an address that the service does not know as its own stops it before anything is spent", async (t) => {
  const { url, token, save, saved, posts, options, own } = await setUp(t, () => false);
  own.push("http://127.0.0.1:8080", "http://localhost:8080");
  await t.rejects(bootstrap({ url, token, save }, options), {
    code: "configuration",
    message:
      /does not know http:.*, but http:\/\/127\.0\.0\.1:8080, http:\/\/localhost:8080: .*COFFER_BASE_URL.*not spent/,
  });
  t.same([saved.length, posts()], [0, 0]);
  own.push(url);
  await bootstrap({ url: `${url}/`, token, save }, options);
});

await t.test("what was saved is discarded when the token is refused, and kept once it may be spent", async (t) => {
  const refusals = { "/api/sm/v1/bootstrap": 401, "/api/sm/v1/client": 403 };
  for (const [refused, status] of Object.entries(refusals)) {
    const { url } = await startServer(t, (request, response) => {
      const refusal = { error: status === 401 ? "invalid_token" : "access_denied", message: "no" };
      if (request.path === refused) json(response, status, refusal, { date });
      else json(response, 200, { keys: [] }, { date });
    });
    const events: string[] = [];
    const note = (what: string) => (): Promise<void> => {
      events.push(what);
      return Promise.resolve();
    };
    const request = { url, token: newAccessToken(), save: note("saved"), discard: note("discarded") };
    await t.rejects(bootstrap(request, { now: () => there, attempts: 1 }), {
      code: status === 401 ? "invalid_token" : "access_denied",
    });
    t.same(events, status === 401 ? ["saved", "discarded"] : ["saved"]);
  }
});

await t.test("a file that cannot be written stops it before the token is spent", async (t) => {
  const { url, token, posts, options } = await setUp(t, () => false);
  const save = (): Promise<void> => Promise.reject(new Error("disk full"));
  await t.rejects(bootstrap({ url, token, save }, options), { message: "disk full" });
  t.equal(posts(), 0);
});

await t.test("half a token is said to be none, and is not sent", async (t) => {
  const { url, token, save, saved, posts, options } = await setUp(t, () => false);
  await t.rejects(bootstrap({ url, token: token.slice(0, -1), save }, options), { code: "configuration" });
  t.same([saved.length, posts()], [0, 0]);
});
