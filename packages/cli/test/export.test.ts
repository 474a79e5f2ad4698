import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { personClient } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { json } from "../../sdk/test/server/server.ts";
import { coffer, command, inherited, stoppedWhileWriting } from "./command.ts";
import { type OrganizationServer, startOrganizationServer } from "./organization-server.ts";
import { openTerminal } from "./output/terminal.ts";

const format = ["--format", "coffer-json"];

/** A vault with records of these names, and how it is exported. */
async function withRecords(
  t: Parameters<typeof startOrganizationServer>[0],
  names: string[],
): Promise<{ server: OrganizationServer; path: string; exported: string[] }> {
  const server = await startOrganizationServer(t);
  const me = personClient(server.session, server.url);
  const { id } = await me.vaults.create("Private");
  await me.records.import(
    id,
    names.map((name) => ({ type: "login", fields: { name } })),
  );
  const path = join(testDirectory(t), "private.json");
  return { server, path, exported: ["export", "--vault", "Private", ...format, path] };
}

/** Answers lists of records in the server's place, as often as `lists` has an answer. */
function listing(server: OrganizationServer, lists: (() => unknown[])[]): void {
  const usual = server.instead.http;
  server.instead.http = (request, response) => {
    const list = /\/records\?/.test(request.path) ? lists.shift() : undefined;
    if (list === undefined) return usual?.(request, response) ?? false;
    json(response, 200, { data: list(), next_cursor: null });
    return true;
  };
}

await t.test("records that are counted and do not come are missed", async (t) => {
  const { server, path, exported } = await withRecords(t, ["one", "two"]);
  const first = (): unknown[] => [...server.records.values()].slice(0, 1);
  listing(server, [first, first, first]);
  const outcome = await server.run([...exported, "--json"]);
  t.match(outcome, { code: 1, stderr: /the service counts 2 records, and gave 1\n$/ });
  t.match(JSON.parse(outcome.stdout), { records: 1, counted: 2, unreadable: 0 });
  t.match(readFileSync(path, "utf8"), "one");
  t.match(await server.run([...exported, "--force"]), { code: 0 });
  const whole = readFileSync(path, "utf8");
  t.match(whole, "two");
  listing(server, [first, first, first]);
  const why = /the service counts 2 records, and gave 1\. .*private\.json is unchanged/;
  t.match(await server.run([...exported, "--force"]), { code: 1, stderr: why });
  t.equal(readFileSync(path, "utf8"), whole, "what is there may be whole");
});

await t.test("who adds or removes records meanwhile makes no alarm", async (t) => {
  const { server, exported } = await withRecords(t, ["one", "two"]);
  const before = [...server.records.values()];
  listing(server, [() => before.slice(0, 1)]);
  t.match(await server.run(exported), { code: 0, stderr: /wrote/ }, "the next list has what was added");
  listing(server, [
    () => {
      server.records.delete(before[0]?.id ?? "");
      return before;
    },
  ]);
  t.match(await server.run([...exported, "--force"]), { code: 0 });
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  await t.test(`an export that ${signal} interrupts leaves the whole file, or nothing`, async (t) => {
    const { server, path, exported } = await withRecords(t, ["one"]);
    const { env, node } = stoppedWhileWriting(signal, path);
    const { signal: by, stderr } = await coffer(server.home, exported, {
      env: { ...env, COFFER_URL: server.url },
      node,
    });
    t.equal(by, signal);
    t.match(stderr, /wrote .*private\.json/);
    t.ok(existsSync(path));
    t.same(readdirSync(join(path, "..")), ["private.json"]);
  });

await t.test("records are not written to a terminal, which would obey what is in them", async (t) => {
  const line = [process.execPath, command, "export", "--vault", "Private", ...format, "-"].join(" ");
  const terminal = openTerminal(t, line, { ...inherited(), TERM: "xterm", HOME: testDirectory(t) });
  t.match(await terminal.end(), /coffer: stdout is a terminal/);
});

await t.test("1Password's archive is written as it is, and read again", async (t) => {
  const { server, path } = await withRecords(t, ["one", "two"]);
  t.match(await server.run(["export", "--vault", "Private", "--format", "1pux", path]), { code: 0 });
  const again = await server.run(["import", "--dry-run", path]);
  t.match(again, { code: 0, stdout: "1pux: would import 2 records: 2 login\n" });
});
