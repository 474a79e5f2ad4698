import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { doctor } from "../../../../packages/cli/test/doctor/doctor.ts";
import { startCutProxy } from "../cut-proxy.ts";
import { newCli, newMachine, newPerson } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const directory = testDirectory(t);
const server = npmStart(t, { directory, env: { COFFER_LIMIT_STRICT: "30" } });
const state = await server.ready;
const { url } = state;
const person = await newPerson(t, url, "owner@example.com");
await person.data(["folder", "create", "production"]);
await person.data(["app", "create", "api"]);
const machine = await newMachine(person, "api", ["production:read"]);
const problemsOf = (found: Awaited<ReturnType<typeof doctor>>) =>
  found.all.filter(({ status }) => status === "problem");

await t.test("as a person on the server's machine: all checks run without a problem", async (t) => {
  const found = await doctor(person.home, [], { env: { COFFER_URL: url, COFFER_DATA_DIR: directory } });
  t.same(problemsOf(found), []);
  t.equal(found.code, 0);
  for (const check of ["profile", "address", "base address", "clock", "limits", "forwarded address", "session"])
    t.match(found.of(check), [{ status: "ok" }], check);
  for (const check of ["live sync", "source address", "version", "stores", "schema", "outbox"])
    t.match(found.of(check), [{ status: "ok" }], check);
  t.match(found.of("source address")[0]?.message, /sees 127\.0\.0\.1, which is us/);
  t.match(found.of("stores")[0]?.message, /auth-sm\.postgres/);
});

await t.test("elsewhere the server's state is only known by its management address", async (t) => {
  const elsewhere = { env: { COFFER_URL: url } };
  t.same((await doctor(person.home, [], elsewhere)).of("stores"), []);
  const named = await doctor(person.home, ["--management", state.management_url], elsewhere);
  t.match(named.of("stores"), [{ status: "ok" }]);
});

await t.test("as a machine: its token is accepted, for one request of the standard limit", async (t) => {
  const used = async (): Promise<number> => {
    const { headers } = await fetch(`${url}/api/sm/v1/secrets`);
    return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  };
  const before = await used();
  const found = await doctor(person.home, ["--config", machine]);
  t.equal(before - (await used()), 2, "its own and this question's");
  t.same(problemsOf(found), []);
  t.match(found.of("configuration"), [{ status: "ok" }]);
  t.match(found.of("machine"), [{ status: "ok", message: /standard limit/ }]);
  t.same(found.of("session"), []);
});

await t.test("a foreign address is reported before a machine is refused there", async (t) => {
  const proxy = await startCutProxy(t);
  proxy.target = url;
  const found = await doctor(person.home, ["--config", machine, "--url", proxy.url]);
  t.equal(found.code, 1);
  t.match(found.of("base address"), [{ status: "problem", message: new RegExp(url) }]);
  t.match(found.of("machine"), [{ status: "problem", advice: /base address/ }]);
});

await t.test("a revoked machine or session is a problem", async (t) => {
  const client = (JSON.parse(await person.data(["client", "ls", "--json"])) as { client_id: string }[])[0]?.client_id;
  await person.data(["client", "rm", client ?? ""]);
  const cut = await doctor(person.home, ["--config", machine]);
  t.match(cut.of("machine"), [{ status: "problem", advice: /new one-time token/ }]);
  t.equal(cut.code, 1);

  const other = newCli(t, url);
  const env = { COFFER_URL: url };
  t.match((await doctor(other.home, [], { env })).of("session"), [{ status: "warn", message: /no one is logged in/ }]);
  await other.data(["login", "--email", "owner@example.com"], {
    env: { COFFER_PASSWORD: "correct horse battery staple" },
  });
  t.match((await doctor(other.home, [], { env })).of("session"), [{ status: "ok" }]);
  await person.data(["sessions", "--end-others"]);
  const ended = await doctor(other.home, [], { env });
  t.match(ended.of("session"), [{ status: "problem", advice: /coffer login/ }]);
});
