import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import t from "tap";
import { temporaryDirectory } from "@coffer/stores";
import { natsRelease, unpackRelease } from "../src/nats-release.ts";

// A local server instead of the project's downloads.

const directory = temporaryDirectory("coffer-stores-");
t.teardown(() => rmSync(directory, { recursive: true, force: true }));
const machine = "linux-amd64";
const name = `nats-server-v9.9.9-${machine}`;
mkdirSync(join(directory, name));
writeFileSync(join(directory, name, "nats-server"), "#!/bin/sh\necho nats-server: v9.9.9\n", { mode: 0o755 });
writeFileSync(join(directory, name, "LICENSE"), "");
execFileSync("tar", ["-czf", join(directory, "archive.tar.gz"), "-C", directory, name]);
const archive = readFileSync(join(directory, "archive.tar.gz"));
const checksum = createHash("sha256").update(archive).digest("hex");
const server = createServer((request, response) => {
  if (request.url === `/v9.9.9/${name}.tar.gz`) response.end(archive);
  else response.writeHead(404).end();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
t.teardown(() => server.close());
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const release = { version: "9.9.9", address, sha256: { [machine]: checksum } };
const unpack = (given = release, on = machine) => unpackRelease(given, join(directory, "cache"), () => undefined, on);

await t.test("an archive with another checksum leaves nothing", async (t) => {
  const wrong = { ...release, sha256: { [machine]: "0".repeat(64) } };
  t.match(await unpack(wrong), { command: null, problem: `has the SHA-256 ${checksum}, not 000` });
  t.same(readdirSync(join(directory, "cache")), []);
});

await t.test("a missing archive, or one that is not pinned for this machine, is reported", async (t) => {
  t.match(await unpack({ ...release, version: "9.9.8" }), { command: null, problem: / answered 404$/ });
  t.match(await unpack(release, "plan9-mips"), { command: null, problem: "no pinned release of NATS for plan9-mips" });
  const nowhere = { ...release, address: "http://127.0.0.1:1" };
  t.match(await unpack(nowhere), { command: null, problem: /^http:\/\/127\.0\.0\.1:1.*: / });
  t.same(readdirSync(join(directory, "cache")), []);
});

await t.test("the pinned archive is unpacked, and runs", async (t) => {
  const { command, problem } = await unpack();
  t.equal(problem, "");
  t.same(command, [join(directory, "cache/nats-server/usr/bin/nats-server")]);
  t.equal(execFileSync(command?.[0] ?? "", { encoding: "utf8" }), "nats-server: v9.9.9\n");
  t.same(readdirSync(join(directory, "cache")), ["nats-server"]);
});

await t.test("the pinned checksums are complete", (t) => {
  for (const [, sum] of Object.entries(natsRelease.sha256)) t.match(sum, /^[0-9a-f]{64}$/);
  t.match(natsRelease.version, /^\d+\.\d+\.\d+$/);
  t.end();
});
