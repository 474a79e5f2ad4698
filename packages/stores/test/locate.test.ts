import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { locate, startRedis } from "@coffer/stores";
import { unpackWithApt } from "../src/apt.ts";
import { onPath } from "../src/on-path.ts";

const directory = mkdtempSync(join(tmpdir(), "coffer-stores-"));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

await t.test("a program on the PATH comes first", async (t) => {
  const folder = join(directory, "bin");
  mkdirSync(folder);
  const program = join(folder, "nats-server");
  writeFileSync(program, "#!/bin/sh\n");
  const path = process.env["PATH"] ?? "";
  t.teardown(() => (process.env["PATH"] = path));
  process.env["PATH"] = `${folder}:${path}`;
  t.not((await locate("nats-server"))[0], program, "a file that cannot be run does not count");
  chmodSync(program, 0o755);
  t.same(await locate("nats-server"), [program]);
});

await t.test("a copy that does not run here is not used", async (t) => {
  const folder = join(directory, "cache/nats-server/usr/sbin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "nats-server"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const command = await locate("nats-server", { cacheDirectory: join(directory, "cache") });
  t.match(execFileSync(command[0] ?? "", [...command.slice(1), "--version"], { encoding: "utf8" }), /nats-server: v/);
});

const noApt = onPath("apt-get") === null ? "there is no apt here" : false;
await t.test(
  "the system's package is unpacked with its libraries, and nothing else is touched",
  { skip: noApt },
  async (t) => {
    const system = ["/var/cache/apt", "/var/lib/apt", "/var/lib/apt/lists"];
    const before = system.map((path) => statSync(path).mtimeMs);
    const cache = join(directory, "apt");
    const { command, problem } = await unpackWithApt("redis-server", cache, () => undefined);
    t.equal(problem, "");
    t.same(
      system.map((path) => statSync(path).mtimeMs),
      before,
    );
    t.same(readdirSync(cache), ["redis-server"]);
    const store = await startRedis({ directory: join(directory, "redis"), command: command ?? [] });
    await store.stop();
  },
);

await t.test("a package that nobody has is a problem in one line", { skip: noApt }, async (t) => {
  const reported: string[] = [];
  const { command, problem } = await unpackWithApt("no-such-server", join(directory, "none"), (line) =>
    reported.push(line),
  );
  t.equal(command, null);
  t.match(problem, /^apt-get: .*no-such-server/);
  t.ok(
    reported.some((line) => /package lists/.test(line)),
    "the lists were read anew, below the folder",
  );
  t.same(readdirSync(join(directory, "none")), []);
});
