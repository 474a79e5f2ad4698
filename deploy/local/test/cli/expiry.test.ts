import pg from "pg";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { newMachine, newPerson } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url, stores } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const person = await newPerson(t, url, "owner@example.com");
await person.data(["folder", "create", "staging"]);
await person.data(["app", "create", "api"]);
const writer = await newMachine(person, "api", ["staging:write"]);

/** Each of the many commands starts a process. */
const patiently = { timeout: 180_000 };

interface Listed {
  uid: string;
  title: string;
  version: number;
  expires_at: string | null;
  expired: boolean;
}
const listed = async (args: string[]): Promise<Listed[]> =>
  JSON.parse(await person.data([...args, "--json"])) as Listed[];

const brief = "coffer://staging/brief/field/password";
const far = "2099-12-31T00:00:00Z";

await t.test("set --expires says until when machines get a secret, and get and ls show it", patiently, async (t) => {
  const made = await person.run(["set", "--expires", "2099-12-31", brief, "--json"], { input: "one" });
  t.match(JSON.parse(made.stdout), { created: true, expires_at: "2099-12-31T00:00:00.000000Z" });
  t.match(made.stderr, `made staging/brief: password, expires ${far}`);
  const kept = await person.run(["set", "--config", writer, brief], { input: "two" });
  t.match(kept, { code: 0, stderr: `changed staging/brief: password, expires ${far}\n` }, "a write keeps it");
  for (const who of [[], ["--config", writer]]) {
    t.match(await listed(["ls", "staging", ...who]), [{ title: "brief", version: 2, expired: false }]);
    t.match(await person.data(["ls", "staging", ...who]), new RegExp(`\tbrief\t.*\t${far}$`));
    t.match(await person.data(["get", brief, ...who]), `(api_credential, version 2, expires ${far})`);
  }
  const before = Date.now();
  await person.data(["set", "--expires", "90d", brief], { input: "three" });
  const [{ expires_at: at } = { expires_at: null }] = await listed(["ls", "staging"]);
  const days = (Date.parse(at ?? "") - before) / 86_400_000;
  t.ok(days >= 90 && days < 90.1, `${days} days`);
  await person.data(["set", "--expires", "never", brief], { input: "four" });
  t.match(await listed(["ls", "staging"]), [{ version: 4, expires_at: null }]);
  t.match(await person.data(["ls", "staging"]), /\tnever$/);
  const past = await person.run(["set", "--expires", "2020-01-31", brief], { input: "five" });
  t.match(past, { code: 2, stdout: "", stderr: /--expires: must be in the future/ });
  const none = await person.run(["set", "--expires", "soon", brief], { input: "five" });
  t.match(none, { code: 2, stdout: "", stderr: /soon is no time/ });
  t.equal(await person.data(["read", brief]), "four");
});

await t.test(
  "an expired secret is shown to people, given to no program, and renewed or removed",
  patiently,
  async (t) => {
    const [{ uid } = { uid: "" }] = await listed(["search", "brief"]);
    const client = new pg.Client({ connectionString: stores.postgres });
    await client.connect();
    t.teardown(() => client.end());
    await client.query("UPDATE auth_sm.secrets SET expires_at = '2026-01-31' WHERE uid = $1", [uid]);
    const moment = "2026-01-31T00:00:00Z";

    t.same(await listed(["ls", "staging", "--config", writer]), []);
    for (const args of [
      ["read", brief],
      ["get", uid],
      ["get", "brief"],
    ])
      t.match(await person.run([...args, "--config", writer]), { code: 5, stdout: "" }, args.join(" "));
    t.match(await listed(["ls", "staging"]), [{ uid, expired: true }]);
    t.match(await person.data(["ls", "staging"]), `expired ${moment}`);
    for (const name of [uid, "brief", brief])
      t.match(await person.data(["get", name]), `(api_credential, version 4, expired ${moment})\npassword: four`);

    const env = { BRIEF: brief };
    for (const args of [["read", brief], ["env"], ["run", "--", "echo", "started"]]) {
      const outcome = await person.run(args, { env });
      t.match(outcome, { code: 5, stdout: "", stderr: /the secret expired at 2026-01-31/ }, args.join(" "));
    }
    const folder = await person.run(["env", "--folder", "staging"]);
    t.match(folder, { code: 0, stdout: "", stderr: /left out, since expired: 1 secret/ });

    const kept = await person.run(["set", brief], { input: "five" });
    t.match(kept, { code: 2, stdout: "", stderr: /expired at 2026-01-31.*nothing was written.*--expires/ });
    await person.data(["set", "--expires", "1d", brief], { input: "five" });
    t.equal(await person.data(["read", "--config", writer, brief]), "five");
    t.match(await listed(["ls", "staging"]), [{ uid, version: 5, expired: false }], "the same secret");

    await client.query("UPDATE auth_sm.secrets SET expires_at = '2026-01-31' WHERE uid = $1", [uid]);
    const again = await person.run(["set", "--config", writer, brief, "--json"], { input: "six" });
    t.match(JSON.parse(again.stdout), { created: true, expires_at: null });
    t.equal(await person.data(["read", brief]), "six", "the title is that of the secret that has not expired");
    await person.data(["folder", "rotate", "staging"]);
    t.match(await person.data(["get", uid]), "password: five", "a rotation has sealed the expired one too");
    await person.data(["rm", uid]);
    t.match(await listed(["ls", "staging"]), [{ title: "brief", expired: false }]);
    await person.data(["rm", brief]);
  },
);
