import { statSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import {
  createClient,
  type MachineClient,
  type MachineConfiguration,
  type OfflineOptions,
  type SecretChange,
} from "../../src/index.ts";
import { fileStorage } from "../../src/node/index.ts";
import { promised } from "../../src/promised.ts";
import { folderFor, historyAnswer, newFolder, newMachine, newSecret, rotated } from "../server/machine.ts";
import { json, startServer } from "../server/server.ts";

const uri = "coffer://production/database/field/password";
const directory = await mkdtemp(join(tmpdir(), "coffer-offline-"));
t.teardown(() => rm(directory, { recursive: true }));
let files = 0;

/** A server that can be away in several ways, a machine, and a file for its cache. */
async function setUp(t: Parameters<typeof startServer>[0]) {
  const folder = newFolder("production");
  const state = {
    secrets: [await newSecret(folder, "database", { password: "s3cret" })],
    tag: '"1"',
    status: 200,
    foldersStatus: 200,
    retryAfter: "1",
  };
  let keys: unknown[] = [];
  let version = 1;
  let after: Awaited<ReturnType<typeof rotated>> = folder;
  const server = await startServer(t, (request, response) => {
    const ofFolders = request.path.endsWith("/folders");
    const page = historyAnswer(request.path);
    const status = ofFolders && state.status === 200 ? state.foldersStatus : state.status;
    if (status === 0) response.destroy();
    else if (status !== 200) json(response, status, refusalOf(status), { "retry-after": state.retryAfter });
    else if (page !== undefined) json(response, 200, page);
    else if (ofFolders) json(response, 200, { data: keys });
    else if (request.headers["if-none-match"] === state.tag) response.writeHead(304, { etag: state.tag }).end();
    else json(response, 200, { data: state.secrets }, { etag: state.tag });
  });
  const machine = await newMachine(server.url, [folder]);
  const path = join(directory, `cache-${(files += 1)}`);
  const told: string[] = [];
  let time = Date.now();
  const start = (more: Partial<OfflineOptions> = {}, configuration: MachineConfiguration = machine): MachineClient =>
    createClient(configuration, {
      now: () => time,
      attempts: 1,
      offline: {
        storage: fileStorage(path),
        onOffline: (confirmed, { code }) => told.push(`${code} ${time - confirmed.getTime()}`),
        onStorageError: () => told.push("storage"),
        ...more,
      },
    });
  /** Gives the folder another key, and seals it to the machine unless it is said to be left out. */
  const rotate = async (sealed = true): Promise<() => void> => {
    version += 1;
    after = await rotated(after);
    const secret = await newSecret(after, "database", { password: "rotated" }, state.secrets[0]?.uid);
    state.secrets = [{ ...secret, version }];
    state.tag = `"${version}"`;
    const view = await folderFor(after, machine.public_key);
    const give = (): void => {
      keys = [view];
    };
    if (sealed) give();
    else keys = [{ ...view, encrypted_key: null, encrypted_key_alg: null }];
    return give;
  };
  return { server, state, machine, path, told, start, rotate, pass: (seconds: number) => (time += seconds * 1000) };
}

const refusalOf = (status: number): unknown => ({
  error: { 401: "invalid_token", 403: "access_denied", 429: "rate_limited" }[status] ?? "unavailable",
  message: "no",
});

await t.test("a machine begins without the service, from what it was answered last", async (t) => {
  const { state, start, told, pass } = await setUp(t);
  t.equal(await start().read(uri), "s3cret");
  pass(3600);
  for (const away of [0, 500, 502, 503, 429]) {
    state.status = away;
    t.equal(await start().read(uri), "s3cret", `${away}`);
  }
  t.same(
    told,
    ["network", "unavailable", "unavailable", "unavailable", "rate_limited"].map((code) => `${code} 3600000`),
  );
});

await t.test("a program that runs goes on, and sees what is new when the service is back", async (t) => {
  const { state, start, rotate, pass } = await setUp(t);
  const client = start();
  t.equal(await client.read(uri), "s3cret");
  state.status = 0;
  pass(31);
  t.equal(await client.read(uri), "s3cret");
  state.status = 200;
  await rotate();
  pass(31);
  t.equal(await client.read(uri), "rotated");
});

await t.test("keys that were rotated since the bootstrap are there without the service too", async (t) => {
  const { state, start, rotate } = await setUp(t);
  await rotate();
  t.equal(await start().read(uri), "rotated");
  state.status = 0;
  t.equal(await start().read(uri), "rotated");
});

await t.test("a rotated folder's new key is fetched once, not at every start", async (t) => {
  const { server, start, rotate, pass } = await setUp(t);
  await rotate();
  const asked = (): number => server.received.filter(({ path }) => path.endsWith("/folders")).length;
  for (let starts = 1; starts <= 3; starts += 1) t.equal(await start().read(uri), "rotated");
  t.equal(asked(), 1);
  await rotate();
  t.equal(await start().read(uri), "rotated", "a key that no longer fits is not used");
  t.equal(asked(), 2);
  pass(86_400);
  t.equal(await start().read(uri), "rotated");
  t.equal(asked(), 3, "nor one that is too old");
});

await t.test("a rotated key that was sealed to the machine later is fetched", async (t) => {
  const { start, rotate } = await setUp(t);
  const give = await rotate(false);
  await t.rejects(start().read(uri));
  give();
  t.equal(await start().read(uri), "rotated");
});

await t.test(
  "a secret whose new key the service does not give yet is not taken for one that cannot be opened",
  async (t) => {
    const { state, start, rotate } = await setUp(t);
    // What is kept of the folders is older than the secrets.
    await rotate();
    await start().read(uri);
    const client = start();
    const changes: SecretChange[] = [];
    const errors: string[] = [];
    const heard = promised();
    const watch = await client.watch(
      (some) => {
        changes.push(...some);
        heard.resolve();
      },
      {
        intervalSeconds: 0.01,
        onError: ({ code }) => {
          if (errors.push(code) === 2) state.foldersStatus = 200;
        },
      },
    );
    state.foldersStatus = 429;
    await rotate();
    await heard.promise;
    watch.stop();
    t.same([...new Set(errors)], ["rate_limited"]);
    t.match(changes, [{ kind: "updated", secret: { fields: { password: "rotated" } } }]);

    await rotate();
    state.foldersStatus = 429;
    await t.rejects(start().read(uri), { code: "rate_limited" });
    await t.rejects(start().list(), { code: "rate_limited" });
  },
);

await t.test("a restart sends the tag, and an unchanged answer has no body", async (t) => {
  const { server, start } = await setUp(t);
  await start().read(uri);
  t.equal(await start().read(uri), "s3cret");
  t.equal(server.received[1]?.headers["if-none-match"], '"1"');
});

await t.test("what is too old is not used, and an unchanged answer makes it young again", async (t) => {
  const { state, start, pass } = await setUp(t);
  await start().read(uri);
  pass(86_399);
  await start().read(uri);
  pass(86_399);
  state.status = 0;
  t.equal(await start().read(uri), "s3cret");
  pass(1);
  await t.rejects(start().read(uri), { code: "network" });
  t.equal(await start({ maxAgeSeconds: 86_401 }).read(uri), "s3cret");
});

await t.test("a machine that was cut off forgets", async (t) => {
  for (const refused of [401, 403]) {
    const { state, start, path } = await setUp(t);
    await start().read(uri);
    state.status = refused;
    await t.rejects(start().read(uri), { code: refused === 401 ? "invalid_token" : "access_denied" });
    await t.rejects(readFile(path), { code: "ENOENT" });
    state.status = 0;
    await t.rejects(start().read(uri), { code: "network" });
  }
});

await t.test("the file is private, says nothing, and is of use to this machine at this service alone", async (t) => {
  const { server, state, start, path, machine, told } = await setUp(t);
  await start().read(uri);
  t.equal(statSync(path).mode & 0o777, 0o600);
  const text = await readFile(path, "utf8");
  t.match(text, /^[A-Za-z0-9+/]+=*\n$/);
  state.status = 0;
  const other = await newMachine(server.url, [newFolder("production")]);
  await t.rejects(start({}, other).read(uri), { code: "network" });
  await t.rejects(start({}, { ...machine, url: "http://127.0.0.1:9" }).read(uri), { code: "network" });
  await writeFile(path, text.slice(0, 40) + (text[40] === "A" ? "E" : "A") + text.slice(41));
  await t.rejects(start().read(uri), { code: "network" });
  t.equal(told.filter((each) => each === "storage").length, 2);
  state.status = 200;
  t.equal(await start().read(uri), "s3cret", "and the next answer replaces it");
  state.status = 0;
  t.equal(await start().read(uri), "s3cret");
});

await t.test("a file that is no cache, or cannot be read, is left as it is", async (t) => {
  const { start, path } = await setUp(t);
  for (const notes of ["my notes", "AAAA"]) {
    await writeFile(path, notes);
    await t.rejects(start().read(uri), { code: "configuration", message: /did not write.*remove it/ });
    t.equal(await readFile(path, "utf8"), notes);
  }
  const client = start();
  await t.rejects(client.read(uri), { code: "configuration" });
  await rm(path);
  t.equal(await client.read(uri), "s3cret", "and read anew when it is gone");
  await t.rejects(start({ storage: fileStorage(directory) }).read(uri), { code: "configuration", message: /EISDIR/ });
});

await t.test("a proxy that refuses makes nothing forgotten", async (t) => {
  const { server, start, path } = await setUp(t);
  await start().read(uri);
  for (const status of [401, 403]) {
    server.server.removeAllListeners("request");
    server.server.on("request", (_request, response) => response.writeHead(status).end("<html>"));
    t.equal(await start().read(uri), "s3cret");
    t.not(await readFile(path, "utf8"), "");
  }
});

await t.test("a storage that cannot be written stops nothing", async (t) => {
  const { start, told } = await setUp(t);
  const client = start({ storage: fileStorage(join(directory, "none", "cache")) });
  t.equal(await client.read(uri), "s3cret");
  t.same(told, ["storage"]);
});

await t.test("a page in the service's place is not kept, and what was kept before is used", async (t) => {
  const { server, start, path, told } = await setUp(t);
  await start().read(uri);
  const kept = await readFile(path, "utf8");
  server.server.removeAllListeners("request");
  server.server.on("request", (_request, response) => json(response, 200, { status: "maintenance" }));
  t.equal(await start().read(uri), "s3cret");
  t.same(told, ["bad_answer 0"]);
  t.equal(await readFile(path, "utf8"), kept);
});

await t.test("a watch that is served from the cache slows down, and waits as long as the service says", async (t) => {
  const { state, start } = await setUp(t);
  await start().read(uri);
  state.retryAfter = "600";
  state.status = 429;
  const told: { code: string; seconds: number; begun: boolean }[] = [];
  const watching = (client: MachineClient, most: number) => {
    const enough = new AbortController();
    return client.watch(() => undefined, {
      intervalSeconds: 0.01,
      signal: enough.signal,
      onError: ({ code }, { seconds, begun }) => {
        if (told.push({ code, seconds, begun }) === most) enough.abort();
      },
    });
  };
  const client = start();
  const refused = await watching(client, Infinity);
  t.match(told, [{ code: "rate_limited", begun: true }], "it begins all the same");
  t.ok((told[0]?.seconds ?? 0) >= 600);
  t.equal(await client.read(uri), "s3cret");
  refused.stop();

  state.status = 503;
  told.length = 0;
  await (
    await watching(start(), 4)
  ).ended;
  t.match(told, Array(4).fill({ code: "unavailable" }));
  t.ok((told[3]?.seconds ?? 0) > (told[1]?.seconds ?? 0), "and asks less and less often");
});

await t.test("without the service a secret is used until it expires, and no longer", async (t) => {
  const { state, start, pass } = await setUp(t);
  const now = Date.now();
  state.secrets = state.secrets.map((secret) => ({ ...secret, expires_at: new Date(now + 3_600_000).toISOString() }));
  t.equal(await start().read(uri), "s3cret");
  state.status = 0;
  pass(3_500);
  t.equal(await start().read(uri), "s3cret");
  pass(200);
  await t.rejects(start().read(uri), { code: "secret_not_found" });
  t.same(await start().list(), []);
});
