import { natsServerConfig, natsUsers } from "@coffer/bus";
import { serviceNames } from "@coffer/events";
import { testNats } from "@coffer/testkit";
import t from "tap";
import { parse } from "yaml";
import { coffer as run } from "../command.ts";

const home = t.testdir();

interface Manifest {
  kind: string;
  metadata: { name: string };
  stringData: Record<string, string>;
}

async function manifestOf(...args: string[]): Promise<Manifest> {
  const { code, stdout, stderr } = await run(home, ["dev", "secrets", ...args]);
  t.equal(code, 0, stderr);
  return parse(stdout) as Manifest;
}

await t.test("dev secrets prints a Secret with addresses and passwords that belong together", async (t) => {
  const { kind, metadata, stringData: keys } = await manifestOf("--release", "vault", "--name", "vault-dev");
  t.same([kind, metadata.name], ["Secret", "vault-dev"]);
  for (const service of serviceNames) {
    const redis = new URL(keys[`${service}.COFFER_REDIS_URL`] ?? "");
    t.same([redis.host, redis.username, redis.password], ["vault-redis:6379", service, keys[`redis.${service}`]]);
    t.equal(keys[`${service}.COFFER_NATS_URL`], "nats://vault-nats:4222");
    t.same(JSON.parse(keys[`${service}.COFFER_NATS_CREDENTIALS`] ?? ""), {
      [service]: { user: service, password: keys[`nats.${service}`] },
    });
  }
  const postgres = new URL(keys["auth-sm.COFFER_POSTGRES_URL"] ?? "");
  t.same([postgres.host, postgres.username, postgres.pathname], ["vault-postgres:5432", "auth_sm", "/coffer"]);
  t.equal(postgres.password, keys["postgres.auth-sm"]);
  t.notOk(Object.hasOwn(keys, "sync.COFFER_POSTGRES_URL"));
});

await t.test("every password is another, in one Secret and from one call to the next", async (t) => {
  const passwords = (keys: Record<string, string>): string[] =>
    Object.entries(keys).flatMap(([key, value]) => (/^(postgres|nats|redis)\./.test(key) ? [value] : []));
  const [one, other] = await Promise.all([manifestOf(), manifestOf("--json")]);
  const all = [...passwords(one.stringData), ...passwords(other.stringData)];
  t.equal(new Set(all).size, all.length);
  for (const password of all) t.match(password, /^p[0-9a-f]{48}$/);
});

await t.test("a name that Kubernetes refuses is a wrong use", async (t) => {
  const { code, stderr } = await run(home, ["dev", "secrets", "--name", "My Secret"]);
  t.equal(code, 2);
  t.match(stderr, /My Secret cannot be a name/);
});

await t.test("dev nats-config prints what the services' own configuration has", async (t) => {
  const { stdout } = await run(home, ["dev", "nats-config"]);
  const passwords = Object.fromEntries(serviceNames.map((name) => [name, `p-${name}`])) as Parameters<
    typeof natsUsers
  >[0];
  const own = natsServerConfig({ users: natsUsers(passwords), host: "127.0.0.1", port: 4222 });
  let filled = stdout;
  for (const name of serviceNames)
    filled = filled.replace(`$PASSWORD_${name.toUpperCase().replaceAll("-", "_")}`, `"p-${name}"`);
  const wordsOf = (text: string): string[] =>
    text
      .replaceAll(",", " ")
      .replace(/^(host|port):.*$/gm, "")
      .split(/\s+|(?=[[\]])|(?<=[[\]])/);
  t.same(wordsOf(filled).filter(Boolean), wordsOf(own).filter(Boolean));
  const server = await testNats(t, { config: filled });
  t.ok(server.url, "a server takes it");
});
