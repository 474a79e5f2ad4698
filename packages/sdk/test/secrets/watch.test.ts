import { EventEmitter, once } from "node:events";
import t from "tap";
import { createClient, type SecretChange } from "../../src/index.ts";
import { newFolder, newMachine, newSecret } from "../server/machine.ts";
import { json, startServer } from "../server/server.ts";

const soon = 0.01;

/** A server with two secrets, and a machine that watches them. */
async function setUp(t: Parameters<typeof startServer>[0]) {
  const folder = newFolder("production");
  const first = await newSecret(folder, "database", { password: "1" });
  const second = await newSecret(folder, "mail", { password: "2" });
  const state = { secrets: [first, second], tag: 1, status: 200 };
  const asked = new EventEmitter();
  const server = await startServer(t, (request, response) => {
    const etag = `"${state.tag}"`;
    if (state.status !== 200) {
      const error = state.status === 401 ? "invalid_token" : state.status === 429 ? "rate_limited" : "unavailable";
      json(response, state.status, { error, message: "no" }, { "retry-after": "0" });
    } else if (request.headers["if-none-match"] === etag) response.writeHead(304, { etag }).end();
    else json(response, 200, { data: state.secrets }, { etag });
    asked.emit("asked");
  });
  const client = createClient(await newMachine(server.url, [folder]));
  const changes: SecretChange[] = [];
  const heard = new EventEmitter();
  const errors: string[] = [];
  const watch = await client.watch(
    (news) => {
      changes.push(...news);
      heard.emit("changes");
    },
    { intervalSeconds: soon, onError: ({ code }) => errors.push(code) },
  );
  t.teardown(() => {
    watch.stop();
    return Promise.resolve();
  });
  const change = async (secrets: typeof state.secrets): Promise<void> => {
    state.secrets = secrets;
    state.tag += 1;
    await once(heard, "changes");
  };
  return { client, folder, first, second, state, asked, server, changes, errors, watch, change };
}

await t.test("created, updated and removed secrets are reported, decrypted, and each once", async (t) => {
  const { folder, first, second, changes, change, asked, watch } = await setUp(t);
  const third = await newSecret(folder, "cache", { password: "3" });
  await change([first, second, third]);
  t.match(changes.splice(0), [
    { kind: "created", uid: third.uid, secret: { title: "cache", fields: { password: "3" } } },
  ]);
  const updated = { ...(await newSecret(folder, "database", { password: "new" }, first.uid)), version: 2 };
  await change([updated, second, third]);
  t.match(changes.splice(0), [{ kind: "updated", uid: first.uid, secret: { fields: { password: "new" } } }]);
  await change([updated, third]);
  t.same(changes.splice(0), [{ kind: "removed", uid: second.uid }]);
  await once(asked, "asked");
  await once(asked, "asked");
  t.same(changes, []);
  watch.stop();
  await watch.ended;
});

await t.test("while the service is away or limits the rate the watch continues, and misses nothing", async (t) => {
  const { state, asked, first, changes, change, errors } = await setUp(t);
  for (const status of [503, 429]) {
    state.status = status;
    await once(asked, "asked");
    await once(asked, "asked");
  }
  state.status = 200;
  await change([first]);
  t.match(changes, [{ kind: "removed" }]);
  t.ok(errors.includes("unavailable"));
  t.ok(errors.includes("rate_limited"));
});

await t.test("it ends when the caller is cut off", async (t) => {
  const { state, watch, errors } = await setUp(t);
  state.status = 401;
  await t.rejects(watch.ended, { code: "invalid_token" });
  t.same(errors, []);
});

await t.test("a stopped watch sends no request, and reports nothing", async (t) => {
  const { client, state, watch, asked, changes, server } = await setUp(t);
  const other = await client.watch(() => undefined, { intervalSeconds: soon });
  await once(asked, "asked");
  watch.stop();
  await watch.ended;
  state.tag += 1;
  state.secrets = [];
  for (let polls = 0; polls < 3; polls += 1) await once(asked, "asked");
  t.same(changes, [], "the other one was told long ago");
  other.stop();
  t.ok(server.received.length > 3);
});

await t.test("a first question that fails is an error at once", async (t) => {
  const { url } = await startServer(t, (_request, response) =>
    json(response, 503, { error: "unavailable", message: "" }),
  );
  const client = createClient(await newMachine(url, []), { attempts: 1 });
  await t.rejects(
    client.watch(() => undefined),
    { code: "unavailable" },
  );
});

/** A server that refuses for its limit as long as `refusals` lasts, and a machine. */
async function refusing(t: Parameters<typeof startServer>[0], retryAfter: string) {
  const folder = newFolder("production");
  const secrets = [await newSecret(folder, "database", { password: "1" })];
  const state = { refusals: Infinity };
  const server = await startServer(t, (_request, response) => {
    if ((state.refusals -= 1) < 0) json(response, 200, { data: secrets }, { etag: '"1"' });
    else json(response, 429, { error: "rate_limited", message: "no" }, { "retry-after": retryAfter });
  });
  return { ...server, state, client: createClient(await newMachine(server.url, [folder])) };
}

await t.test(
  "a first poll that the rate limit refuses is repeated later, and the program gets the error",
  async (t) => {
    const { client, state, received } = await refusing(t, "0");
    state.refusals = 2;
    const told: unknown[] = [];
    const watch = await client.watch(() => undefined, {
      intervalSeconds: soon,
      onError: ({ code }, { seconds, begun }) => told.push([code, begun, seconds >= 0 && seconds < 1]),
    });
    watch.stop();
    t.same(told, [
      ["rate_limited", false, true],
      ["rate_limited", false, true],
    ]);
    t.equal(received.length, 3);
  },
);

await t.test("a first question waits no longer than the program wants", async (t) => {
  const { client, received } = await refusing(t, "600");
  const watching = client.watch(() => undefined, { maxWaitSeconds: 599 });
  await t.rejects(watching, { code: "rate_limited", retryAfterSeconds: 600 });
  t.equal(received.length, 1);
});

await t.test("a watch that waits for the rate limit can be stopped, and a stopped one sends no request", async (t) => {
  const { client, received } = await refusing(t, "600");
  const giveUp = new AbortController();
  const options = { signal: giveUp.signal, onError: () => giveUp.abort() };
  for (let asked = 0; asked < 2; asked += 1)
    await t.rejects(
      client.watch(() => undefined, options),
      { code: "network" },
    );
  t.equal(received.length, 1);
});

await t.test("a watch is ended by its signal", async (t) => {
  const { client, state, received } = await refusing(t, "0");
  state.refusals = 0;
  const giveUp = new AbortController();
  const watch = await client.watch(() => undefined, { signal: giveUp.signal });
  giveUp.abort();
  await watch.ended;
  t.equal(received.length, 1);
});

await t.test("changes are compared with the last read: no second request", async (t) => {
  const { client, state, received } = await refusing(t, "0");
  state.refusals = 0;
  t.equal(await client.read("coffer://production/database/field/password"), "1");
  (await client.watch(() => undefined)).stop();
  t.equal(received.length, 1);
});
