import { rmSync } from "node:fs";
import t from "tap";
import { startNats, temporaryDirectory } from "@coffer/stores";
import { serversListed } from "../src/servers-listed.ts";

const programs = new Set(["postgres", "nats-server", "redis-server"]);
const directory = "/x/.coffer";

/** Whether a process with this program and this command line counts as a server in /x/.coffer. */
const counts = (program: string, command: string): boolean =>
  serversListed(directory, programs, {
    programs: `    1 init\n  812 ${program}\n`,
    commands: `1 init\n  812 ${command}\n`,
  }).length === 1;

await t.test("a server that works in a directory or below it is found", (t) => {
  t.ok(counts("/y z/bin/postgres", "/y z/bin/postgres -D /x/.coffer/postgres/data -p 5432"));
  t.ok(counts("nats-server", "/usr/sbin/nats-server -c /x/.coffer/nats/nats.conf -p 4222"));
  t.ok(counts("redis-server", "redis-server --dir=/x/.coffer"));
  t.end();
});

await t.test("a process that reads a server's file, or has its name in a path, is not a server", (t) => {
  t.notOk(counts("tail", "tail -f /x/.coffer/postgres/log"));
  t.notOk(counts("vi", "vi /x/.coffer/nats-server"));
  t.notOk(counts("/x/.coffer/postgres/tail", "/x/.coffer/postgres/tail -f /x/.coffer/log"));
  t.end();
});

await t.test("a directory with a similar name is another one", (t) => {
  for (const other of ["/x/.coffer-two", "/x/.coffer2/a", "/y/x/.coffer", "/x/.coffer.old/postgres"])
    t.notOk(counts("postgres", `postgres -D ${other}`), other);
  t.end();
});

await t.test("a program of a directory that works elsewhere does not count", (t) => {
  t.notOk(counts("/x/.coffer/stores/nats-server", "/x/.coffer/stores/nats-server -c /tmp/other/nats.conf"));
  t.end();
});

await t.test("a running server is found by its directory in the system's list", async (t) => {
  const directory = temporaryDirectory("coffer-stores-");
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const store = await startNats({ directory, config: "" });
  t.teardown(() => store.stop());
  t.same(serversListed(directory, programs), [store.pid]);
  t.same(serversListed(`${directory}-two`, programs), []);
});
