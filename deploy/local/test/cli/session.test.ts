import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLogin } from "@coffer/crypto/opaque";
import pg from "pg";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { startCutProxy } from "../cut-proxy.ts";
import { newCli, newPerson, password } from "./cli-person.ts";
import { npmStart, until } from "../npm-start.ts";

const env = { COFFER_LIMIT_STRICT: "100" };
const directory = testDirectory(t);
const server = npmStart(t, { directory, env });
const { url, stores } = await server.ready;
const person = await newPerson(t, url, "owner@example.com");
const profileFile = join(person.home, "coffer", "profile.json");
type Profile = { sessions: Record<string, Record<string, unknown>> };
const profile = (): Profile => JSON.parse(readFileSync(profileFile, "utf8")) as Profile; // as the command wrote it
/** The session of an address in the profile. */
const sessionAt = (address: string) => profile().sessions[address];
/** Expires the access token for the next command. */
const endAccessToken = (address: string): void => {
  const { sessions, ...rest } = profile();
  const ended = { ...sessions[address], access_expires_at: 0 };
  writeFileSync(profileFile, JSON.stringify({ ...rest, sessions: { ...sessions, [address]: ended } }));
};
const refresh = async (token: unknown): Promise<number> => {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ refresh_token: token });
  return (await fetch(`${url}/api/auth/refresh`, { method: "POST", headers, body })).status;
};
const login = (cli = person, secret = password, email = "owner@example.com") =>
  cli.run(["login", "--email", email], { env: { COFFER_PASSWORD: secret } });

await t.test("commands at the same time share one renewal of the session, and none is logged out", async (t) => {
  for (let round = 0; round < 2; round += 1) {
    const before = sessionAt(url)?.["refresh_token"];
    endAccessToken(url);
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => person.run(["whoami"])));
    t.same(
      outcomes.map(({ code }) => code),
      [0, 0, 0, 0],
      outcomes.map(({ stderr }) => stderr).join(),
    );
    t.not(sessionAt(url)?.["refresh_token"], before);
  }
});

await t.test("a second account of one e-mail is refused, and the first stays logged in", async (t) => {
  const other = newCli(t, url);
  const outcome = await other.run(["register", "--email", "OWNER@example.com "], {
    env: { COFFER_PASSWORD: password },
  });
  t.match(outcome, { code: 1, stdout: "" });
  t.equal((await person.run(["whoami"])).code, 0);
});

await t.test("logout ends the session and forgets it and the unlocked key", async (t) => {
  const session = sessionAt(url);
  t.equal((await person.run(["logout"])).code, 0);
  t.equal(sessionAt(url), undefined);
  t.match(await person.run(["whoami"]), { code: 3, stdout: "" });
  t.equal(await refresh(session?.["refresh_token"]), 401);
});

await t.test("a wrong password and an unknown e-mail are the same: not authenticated", async (t) => {
  const wrong = await login(person, "wrong");
  const unknown = await login(person, password, "unknown@example.com");
  t.match(wrong, { code: 3, stdout: "" });
  t.same(unknown, wrong);
  t.equal(wrong.stderr, "coffer: wrong e-mail or password\n");
  t.equal(sessionAt(url), undefined);
});

await t.test("a login on another machine opens the same keys; the password may come from a file", async (t) => {
  t.equal((await login()).code, 0);
  await person.data(["folder", "create", "production"]);
  await person.data(["set", "coffer://production/a/field/b"], { input: "value" });
  const other = newCli(t, url);
  t.equal((await login(other)).code, 0);
  t.equal(await other.data(["read", "coffer://production/a/field/b"]), "value");
});

await t.test("a machine that has logged in before is not delayed by the logins of others", async (t) => {
  const victim = await newPerson(t, url, "victim@example.com");
  t.equal((await victim.run(["logout"])).code, 0);
  const { startLoginRequest: start_login_request } = await startLogin("guess");
  const begin = async (): Promise<number> => {
    const body = JSON.stringify({ email: "victim@example.com", start_login_request });
    const headers = { "content-type": "application/json" };
    return (await fetch(`${url}/api/auth/login/start`, { method: "POST", headers, body })).status;
  };
  // Others are delayed for a minute: a later login proves nothing.
  let milliseconds = Infinity;
  for (let attempt = 0; attempt < 5 && milliseconds > 50_000; attempt += 1) {
    while ((await begin()) === 200);
    const began = performance.now();
    t.match(await login(victim, password, "victim@example.com"), { code: 0 });
    milliseconds = performance.now() - began;
  }
  t.ok(milliseconds <= 50_000, "it did not wait for the end of the delay");
});

await t.test("a repeated login ends the former session", async (t) => {
  const before = sessionAt(url);
  t.match(await login(), { code: 0, stderr: /ended the session of owner@example\.com that was here before/ });
  t.not(sessionAt(url)?.["session_id"], before?.["session_id"]);
  t.equal(await refresh(before?.["refresh_token"]), 401);
  t.equal((await person.run(["whoami"])).code, 0);
});

await t.test(
  "a login at a second address leaves the session at the first, and the last login is the default",
  async (t) => {
    const proxy = await startCutProxy(t);
    proxy.target = url;
    const there = { env: { COFFER_URL: proxy.url, COFFER_PASSWORD: password } };
    const byDefault = { env: { COFFER_URL: "", COFFER_DATA_DIR: "" } };
    t.equal((await person.run(["login", "--email", "owner@example.com"], there)).code, 0);
    t.match(await person.run(["whoami"], byDefault), { code: 0, stdout: new RegExp(proxy.url) });
    t.match(await person.run(["whoami"]), { code: 0, stdout: new RegExp(url) }, "named, the first is still there");
    t.equal((await person.run(["logout"], byDefault)).code, 0);
    t.equal(sessionAt(proxy.url), undefined);
    const outcome = await person.run(["whoami"], byDefault);
    t.match(outcome, { code: 3, stdout: "" });
    t.match(outcome.stderr, `not logged in at ${proxy.url}, but at ${url} (--url chooses)`);
    t.match(await person.run(["whoami"]), { code: 0 });
  },
);

await t.test("the last login takes precedence over the local run of COFFER_DATA_DIR", async (t) => {
  const data = t.testdir({ run: { "coffer.json": JSON.stringify({ url: "http://127.0.0.1:9" }) }, home: {} });
  t.equal((await login()).code, 0);
  const named = { env: { COFFER_URL: "", COFFER_DATA_DIR: data } };
  t.match(await person.run(["whoami"], named), { code: 0, stdout: new RegExp(url) });
  const stranger = { ...named.env, XDG_CONFIG_HOME: join(data, "home"), COFFER_PASSWORD: password };
  const register = ["register", "--email", "else@example.com"];
  t.match(await person.run(register, { env: stranger }), { code: 7, stderr: /127\.0\.0\.1:9/ });
  stranger.COFFER_DATA_DIR = directory;
  t.match(await person.run(register, { env: stranger }), { code: 0 });
});

await t.test("a session is sent to no other address than its own", async (t) => {
  const outcome = await person.run(["whoami", "--url", "http://127.0.0.1:9"]);
  t.match(outcome, { code: 2, stdout: "", stderr: /you are logged in at/ });
  t.equal((await person.run(["whoami", "--url", url.replace("127.0.0.1", "localhost")])).code, 0);
});

await t.test("one organization is chosen by its name, and one that is not there is reported", async (t) => {
  await person.data(["org", "create", "Second"]);
  const names = (JSON.parse(await person.data(["org", "ls", "--json"])) as { name: string }[]).map(({ name }) => name);
  t.same(names, ["Org of owner@example.com", "Second"]);
  t.same(JSON.parse(await person.data(["folder", "ls", "--json", "--org", "second"])), []);
  t.match(await person.run(["folder", "ls", "--org", "third"]), { code: 5 });
});

await t.test("audit lists actions, and verify accepts the chain", async (t) => {
  const records = JSON.parse(await person.data(["audit", "ls", "--action", "folder.created", "--json"])) as unknown[];
  const source = { user_agent: /^coffer-cli\/\d+\.\d+\.\d+$/ };
  t.match(records, [{ action: "folder.created", outcome: "success", source }]);
  const head = await person.data(["audit", "verify"]);
  t.match(head, /^\d+:[0-9a-f]{64}$/);
  t.equal((await person.run(["audit", "verify", "--expect", head])).code, 0);
  t.match(JSON.parse(await person.data(["audit", "verify", "--json"])), { whole: true, broken: null, gaps: [] });
});

await t.test("a 400 of the service is a wrong use, with its details only", async (t) => {
  await person.data(["app", "create", "api"]);
  const token = ["token", "create", "--app", "api", "--folder", "production:read"];
  for (const [args, option] of [
    [[...token, "--expires", "8d"], "--expires"],
    [[...token, "--cidr", "foo"], "--cidr"],
    [["audit", "ls", "--action", "nope"], "there is no action nope"],
    [["register", "--email", "no-address"], "--email"],
  ] as const) {
    const { code, stdout, stderr } = await person.run([...args], { env: { COFFER_PASSWORD: password } });
    t.match({ code, stdout }, { code: 2, stdout: "" }, option);
    t.match(stderr, new RegExp(`^coffer: ${option}: [^\n]+\n$`), option);
  }
});

await t.test("audit ls shows names beside ids", async (t) => {
  await person.data(["app", "create", "named"]);
  await person.data(["folder", "create", "named-folder"]);
  const lines = (await person.data(["audit", "ls"])).split("\n").map((line) => line.split("\t"));
  const of = (action: string): string[] => lines.findLast(([, , done]) => done === action) ?? [];
  t.match(of("folder.created")[4], /^user [0-9a-f-]{36} owner@example\.com$/);
  t.match(of("folder.created")[5], /^folder [0-9a-f-]{36} named-folder$/);
  t.match(of("application.created")[5], /^application [0-9a-f-]{36} named$/);
});

await t.test("an unknown action is refused in one line with the closest names", async (t) => {
  const { code, stdout, stderr } = await person.run(["audit", "ls", "--action", "secret.raed"]);
  t.match({ code, stdout }, { code: 2, stdout: "" });
  t.equal(
    stderr,
    "coffer: there is no action secret.raed: the closest are secret.read, secret.created, secret.listed\n",
  );
});

await t.test("audit ls takes dates and ages", async (t) => {
  const count = async (...args: string[]): Promise<number> =>
    (JSON.parse(await person.data(["audit", "ls", "--json", "--limit", "1000", ...args])) as unknown[]).length;
  t.ok((await count("--from", "1h")) > 0);
  t.equal(await count("--to", "1h"), 0);
  t.equal(await count("--from", "2026-01-01", "--to", "2026-01-02"), 0);
});

await t.test("verify finds a record that was changed in the database, and one that was removed", async (t) => {
  const head = await person.data(["audit", "verify"]);
  const client = new pg.Client({ connectionString: stores.postgres });
  await client.connect();
  try {
    const { rows } = await client.query<{ chain_id: string }>(
      "SELECT chain_id FROM siem_forwarder.audit_records WHERE action = 'folder.created' LIMIT 1",
    );
    const chain = `'${rows[0]?.chain_id ?? ""}'`;
    await client.query(
      `UPDATE siem_forwarder.audit_records SET record = replace(record::text, 'success', 'denied')::json
       WHERE chain_id = ${chain} AND seq = 3`,
    );
    const changed = await person.run(["audit", "verify", "--json"]);
    t.match(changed, { code: 1, stderr: /broken at record 3: changed/ });
    t.match(JSON.parse(changed.stdout), { whole: false, head: { seq: 2 }, broken: { seq: 3, problem: "changed" } });
    await client.query(`DELETE FROM siem_forwarder.audit_records WHERE chain_id = ${chain} AND seq = 3`);
    t.match(await person.run(["audit", "verify"]), { code: 1, stdout: "", stderr: /broken at record 3: missing/ });
    await client.query(`DELETE FROM siem_forwarder.audit_records WHERE chain_id = ${chain} AND seq >= 3`);
    t.match(await person.run(["audit", "verify"]), { code: 1, stdout: "", stderr: /broken at record 3: .*cut short/ });
    await client.query(
      `UPDATE siem_forwarder.audit_chains SET seq = 2, hash = (
         SELECT record->>'hash' FROM siem_forwarder.audit_records WHERE chain_id = ${chain} AND seq = 2
       ) WHERE id = ${chain}`,
    );
    t.match(await person.run(["audit", "verify"]), { code: 0 }, "without a trace");
    t.match(await person.run(["audit", "verify", "--expect", head]), {
      code: 1,
      stdout: "",
      stderr: /was there before/,
    });
  } finally {
    await client.end();
  }
});

await t.test("a reached limit delays the command, which prints one line", async (t) => {
  const request = (): Promise<Response> => fetch(`${url}/api/auth/login/start`, { method: "POST" });
  let waited = await login();
  // A request of a minute ago may leave the window before the command's request.
  await until(async () => {
    if ((await request()).status !== 429) return false;
    waited = await login();
    return waited.stderr.includes("waiting");
  });
  t.match(waited, {
    code: 0,
    stdout: "",
    stderr:
      /^coffer: too many requests from this address: waiting \d+ s [^\n]*\n(?:ended [^\n]*\n)?logged in as [^\n]*\n$/,
  });
});

await t.test("a service that is away is exit 7, and the session stays", async (t) => {
  process.kill(server.pid, "SIGINT");
  process.kill(-server.pid, "SIGINT");
  await server.exited;
  t.match(await person.run(["whoami"]), { code: 7, stdout: "", stderr: /cannot be reached/ });
  t.type(sessionAt(url)?.["user_key"], "string");
});
