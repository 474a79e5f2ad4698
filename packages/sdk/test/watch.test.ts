import { EventEmitter, once } from "node:events";
import t from "tap";
import { createClient } from "../src/index.ts";
import type { SecretChange } from "../src/index.ts";
import { newFolder, newMachine, newSecret } from "./machine.ts";
import { json, startServer } from "./server.ts";

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

await t.test("created, updated and removed secrets are told, opened, and each once", async (t) => {
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

await t.test("while the service is away or short of room it goes on asking, and misses nothing", async (t) => {
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

await t.test("a stopped watch asks no more, and tells nothing", async (t) => {
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
