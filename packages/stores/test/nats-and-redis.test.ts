import { once } from "node:events";
import { readdirSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import t from "tap";
import { serversIn, startNats, startRedis, type Store, temporaryDirectory } from "@coffer/stores";

const directory = temporaryDirectory("coffer-stores-");
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

/** Sends lines and returns the server's output once `until` matches. */
async function converse({ port }: Store, lines: string, until: RegExp): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(lines);
  let said = "";
  for await (const chunk of socket) {
    said += String(chunk);
    if (until.test(said)) break;
  }
  socket.destroy();
  return said;
}

await t.test("Redis requires the password, and writes nothing to disk", async (t) => {
  const folder = join(directory, "redis");
  const store = await startRedis({ directory: folder, password: 'quote " and \\ back' });
  t.teardown(() => store.stop());
  t.match(await converse(store, "PING\r\n", /\r\n/), /NOAUTH/);
  const login = String.raw`AUTH "quote \" and \\ back"`;
  t.match(await converse(store, `${login}\r\nSET a 1\r\nGET a\r\n`, /\$1\r\n1\r\n/), /\+OK\r\n\+OK\r\n\$1\r\n1\r\n/);
  t.equal(statSync(join(folder, "redis.conf")).mode & 0o777, 0o600);
  await store.stop();
  // "programs" has the copy of the server if this machine's user cannot run the original.
  const files = readdirSync(folder).filter((name) => name !== "programs");
  t.same(files.sort(), ["log", "redis.conf"]);
  t.same(serversIn(folder), []);
});

await t.test("NATS listens on loopback alone with the configuration it is given", async (t) => {
  const folder = join(directory, "nats");
  const config = "authorization { users: [ { user: a, password: b } ] }\n";
  const store = await startNats({ directory: folder, config });
  t.teardown(() => store.stop());
  t.match(await converse(store, "PING\r\n", /-ERR|PONG/), /"host":"127.0.0.1".*Authorization Violation/s);
  const login = 'CONNECT {"user":"a","pass":"b","verbose":false}\r\nPING\r\n';
  t.match(await converse(store, login, /-ERR|PONG/), /PONG/);
  t.equal(statSync(join(folder, "nats.conf")).mode & 0o777, 0o600);
});

await t.test("a start on the same folder and port replaces the running server", async (t) => {
  const folder = join(directory, "again");
  const first = await startRedis({ directory: folder });
  const gone = new Promise<void>((resolve) => first.onExit(resolve));
  const second = await startRedis({ directory: folder, port: first.port });
  t.teardown(() => second.stop());
  await gone;
  t.equal(second.url, first.url);
  t.same(serversIn(folder), [second.pid]);
});
