import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { locate, startRedis, temporaryDirectory } from "@coffer/stores";
import { unpackWithApt } from "../src/apt.ts";
import { filled, isDocker } from "../src/docker.ts";
import { onPath } from "../src/on-path.ts";

const directory = temporaryDirectory("coffer-stores-");
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

await t.test(
  "a container gets the store's folder and its port on loopback, under a name that a later start finds",
  (t) => {
    const command = [
      "docker",
      "run",
      "--name={name}",
      "--volume={directory}:{directory}",
      "--publish=127.0.0.1:{port}:{port}",
    ];
    t.ok(isDocker(command));
    t.notOk(isDocker(["/usr/bin/redis-server"]));
    const [, , name = "", ...rest] = filled(command, "/data/redis", 6379);
    t.match(name, /^--name=coffer-[0-9a-f]{16}$/);
    t.same(rest, ["--volume=/data/redis:/data/redis", "--publish=127.0.0.1:6379:6379"]);
    t.same(filled(command, "/data/redis", 6380)[2], name);
    t.not(filled(command, "/data/nats", 6379)[2], name);
    t.end();
  },
);

const noApt = onPath("apt-get") === null ? "there is no apt here" : false;
await t.test(
  "on a machine without package lists the package is unpacked with its libraries, and nothing else is touched",
  { skip: noApt },
  async (t) => {
    const configuration = join(directory, "apt.conf");
    writeFileSync(configuration, `Dir::State::Lists "${directory}/no-lists/";\n`);
    process.env["APT_CONFIG"] = configuration;
    t.teardown(() => Reflect.deleteProperty(process.env, "APT_CONFIG"));
    const system = ["/var/cache/apt", "/var/lib/apt", "/var/lib/apt/lists"];
    const before = system.map((path) => statSync(path).mtimeMs);
    const cache = join(directory, "apt");
    const reported: string[] = [];
    const { command, problem } = await unpackWithApt("redis-server", cache, (line) => reported.push(line));
    t.equal(problem, "");
    t.match(reported, [/downloading redis-server/, /package lists/]);
    t.same(
      system.map((path) => statSync(path).mtimeMs),
      before,
    );
    t.same(readdirSync(cache), ["redis-server"]);
    const store = await startRedis({ directory: join(directory, "redis"), command: command ?? [] });
    await store.stop();
  },
);
