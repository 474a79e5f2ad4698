import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import t from "tap";
import { testDirectory, until } from "@coffer/testkit";
import { command, inherited, outcomeOf, start } from "../../../../packages/cli/test/command.ts";
import { openTerminal } from "../../../../packages/cli/test/output/terminal.ts";
import { newMachine, newPerson } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url, stores } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const person = await newPerson(t, url, "owner@example.com");
await person.data(["folder", "create", "production"]);
await person.data(["folder", "create", "staging"]);
await person.data(["app", "create", "api"]);
const reader = await newMachine(person, "api", ["production:read"]);
const writer = await newMachine(person, "api", ["production:write", "staging:write"]);
const uri = (title: string, field: string, folder = "production"): string =>
  `coffer://${folder}/${title}/field/${field}`;
const password = uri("database", "password");

interface Listed {
  uid: string;
  title: string;
  folder: string;
  version: number;
  field_names: string[];
  record_type: string;
}
const listed = async (args: string[]): Promise<Listed[]> =>
  JSON.parse(await person.data([...args, "--json"])) as Listed[];

await t.test("a machine reads a person's secrets, and a person a machine's", async (t) => {
  const made = await person.run(["set", password, "--json"], { input: "s3cret" });
  t.match(JSON.parse(made.stdout), { created: true, record_type: "api_credential" });
  t.equal(await person.data(["read", "--config", reader, password]), "s3cret");
  await person.data(["set", "--config", writer, uri("database", "user")], { input: "app\n" });
  t.equal(await person.data(["read", uri("database", "user")]), "app", "without the line break of echo");
  t.equal(await person.data(["read", password]), "s3cret", "the other field stays");
  t.match(await listed(["ls", "production"]), [{ title: "database", version: 2, field_names: ["password", "user"] }]);
});

await t.test("any value is read back unchanged", async (t) => {
  const file = join(person.home, "value");
  for (const value of ["", "\n", " a\r\nb\n", "ünïcode 🔑 \u0000", "-n", "x".repeat(40_000), "y".repeat(100_000)]) {
    writeFileSync(file, value);
    await person.data(
      ["set", "--allow-empty", "--config", writer, "--file", file, uri("any/thing %", "v")].map(encoded),
    );
    const { stdout } = await person.run(["read", "--config", reader, "--no-newline", encoded(uri("any/thing %", "v"))]);
    t.equal(stdout, value, JSON.stringify(value.slice(0, 20)));
  }
});

await t.test("an empty value is refused, from any source, and changes nothing", async (t) => {
  const file = join(person.home, "empty");
  writeFileSync(file, "");
  for (const input of ["", "\n"])
    t.match(await person.run(["set", password], { input }), { code: 2, stdout: "", stderr: /--allow-empty/ });
  t.match(await person.run(["set", "--file", file, password]), { code: 2, stdout: "", stderr: /--allow-empty/ });
  t.equal(await person.data(["read", password]), "s3cret");
  await person.data(["set", "--allow-empty", uri("blank", "v")], { input: "\n" });
  t.equal(await person.data(["read", uri("blank", "v")]), "");
  await person.data(["rm", uri("blank", "v")]);
});

/** The title `any/thing %` in a notation. */
function encoded(argument: string): string {
  return argument.replace("any/thing %", "any%2Fthing%20%25");
}

await t.test("the type is given when the secret is made, and an unknown folder is reported", async (t) => {
  await person.data(["set", "--config", writer, "--type", "ssh_key", uri("deploy", "key", "staging")], { input: "k" });
  t.match(await listed(["ls", "staging"]), [{ record_type: "ssh_key", title: "deploy" }]);
  const outcome = await person.run(["set", uri("x", "y", "nowhere")], { input: "v" });
  t.match(outcome, { code: 5, stdout: "", stderr: /there is no folder nowhere/ });
});

await t.test("get prints every field, as lines or as JSON", async (t) => {
  const [first] = await listed(["search", "datab"]);
  const text = await person.data(["get", first?.uid ?? "", "--config", reader]);
  t.match(text, /^production\/database \(api_credential, version 2\)\npassword: s3cret\nuser: app$/);
  const asPerson = JSON.parse(await person.data(["get", first?.uid ?? "", "--json"])) as unknown;
  t.match(asPerson, { uid: first?.uid, name: "database", fields: { password: "s3cret", user: "app" } });
});

await t.test("get takes a uid, a title and a notation, as a person and as a machine", async (t) => {
  const [{ uid } = { uid: "" }] = await listed(["search", "database"]);
  for (const who of [[], ["--config", reader]])
    for (const name of [uid, "database", "coffer://production/database", password]) {
      const secret = JSON.parse(await person.data(["get", name, "--json", ...who])) as unknown;
      t.match(secret, { uid, fields: { password: "s3cret", user: "app" } }, name);
    }
  for (const name of ["datab", "coffer://production/none", uri("database", "none")])
    t.match(await person.run(["get", name]), { code: 5, stdout: "" }, name);
  for (const name of ["coffer://production", "https://example.com/a/field/b"])
    t.match(await person.run(["get", name]), { code: 2, stdout: "" }, name);
});

await t.test("a title of several secrets is refused with their uids, which are accepted", async (t) => {
  for (const folder of ["production", "staging"])
    await person.data(["set", uri("twin", "v", folder)], { input: folder });
  for (const command of ["get", "rm"]) {
    const { code, stdout, stderr } = await person.run([command, "twin"]);
    t.match({ code, stdout }, { code: 2, stdout: "" });
    const uids = [...stderr.matchAll(/([\w-]{22}) in (production|staging)/g)].map(([, uid = ""]) => uid);
    t.equal(uids.length, 2, stderr);
    for (const uid of uids) await person.data(["get", uid]);
  }
  await person.data(["rm", "coffer://staging/twin"]);
  t.match(JSON.parse(await person.data(["rm", "twin", "--json"])), [{ removed: "secret" }]);
  t.match(await person.run(["get", "twin"]), { code: 5 });
});

await t.test("search finds parts of titles without regard to case, for both alike", async (t) => {
  for (const who of [[], ["--config", writer]]) {
    t.same(
      (await listed(["search", "DATA", ...who])).map(({ title }) => title),
      ["database"],
    );
    t.same(await listed(["search", "nothing of the kind", ...who]), []);
    t.same(
      (await listed(["search", "%", ...who])).map(({ title }) => title),
      ["any/thing %"],
    );
  }
});

await t.test("run gives the command its secrets, and masks them in pipes, on request, and in CI", async (t) => {
  const env = {
    DB: password,
    USER_NAME: uri("database", "user"),
    PLAIN: "x",
    COFFER_CONFIG: readFileSync(reader, "utf8"),
  };
  const print = [
    "--",
    "sh",
    "-c",
    'printf "%s " "$DB" "$USER_NAME" "$PLAIN" "[$COFFER_CONFIG]"; echo "$DB" >&2; exit 5',
  ];
  const plain = await person.run(["run", "--no-mask", ...print], { env });
  t.match(plain, { code: 5, stdout: "s3cret app x [] ", stderr: "s3cret\n" });
  const masked = { code: 5, stdout: "*** app x [] ", stderr: "***\n" };
  t.match(await person.run(["run", ...print], { env }), masked, "in a pipe; values shorter than four stay");
  t.match(await person.run(["run", "--mask", ...print], { env }), masked);
  t.match(await person.run(["run", ...print], { env: { ...env, COFFER_CONFIG: "" } }), masked, "as a person too");
  t.match(await person.run(["run", "--no-mask", ...print], { env: { ...env, CI: "true" } }), { stdout: plain.stdout });
});

await t.test("on a terminal run masks nothing, but in CI, and only in the stream that is a terminal", async (t) => {
  const out = join(person.home, "errors");
  const line = (flags: string) => `'${command}' run ${flags} -- sh -c 'echo "<$DB>"; echo "[$DB]" >&2' 2>'${out}'`;
  const env = { ...inherited(), TERM: "xterm", HOME: person.home, XDG_CONFIG_HOME: person.home, COFFER_URL: url };
  for (const [flags, more, shown, written] of [
    ["", {}, "<s3cret>", "[***]"],
    ["", { CI: "false" }, "<***>", "[***]"],
    ["--no-mask", { CI: "true" }, "<s3cret>", "[s3cret]"],
    ["--mask", {}, "<***>", "[***]"],
  ] as const) {
    const terminal = openTerminal(t, line(flags), { ...env, DB: password, ...more });
    t.match(await terminal.end(), shown, flags);
    t.equal(readFileSync(out, "utf8"), `${written}\n`, flags);
  }
});

await t.test(
  "run --env-file sets values and references of a file, and the command's own --env-file is its own",
  async (t) => {
    const file = join(person.home, "run.env");
    writeFileSync(file, `# of the team\nDB="${password}"\nexport PLAIN='a b'\nBOTH=file\nCOFFER_PASSWORD=no\n`);
    const script = 'echo "$DB|$PLAIN|$BOTH|$COFFER_PASSWORD|$*"';
    const args = ["run", "--no-mask", "--env-file", file, "sh", "-c", script, "sh", "--env-file", "of-the-command"];
    const outcome = await person.run(args, { env: { BOTH: "environment" } });
    t.match(outcome, { code: 0, stdout: "s3cret|a b|file||--env-file of-the-command\n", stderr: "" });
    const later = join(person.home, "later.env");
    writeFileSync(later, "BOTH=later\n");
    const both = await person.run(["run", "--env-file", file, "--env-file", later, "--", "printenv", "BOTH"]);
    t.match(both, { code: 0, stdout: "later\n" });
    const none = await person.run(["run", "--env-file", `${file}.none`, "--", "echo", "started"]);
    t.match(none, { code: 2, stdout: "", stderr: /run\.env\.none cannot be read/ });
  },
);

await t.test("run --watch starts the command again when a value has changed, or sends a signal", async (t) => {
  const watched = uri("watched", "value");
  await person.data(["set", watched], { input: "one" });
  const script = `console.log("started " + process.env.VALUE); process.on("SIGHUP", () => console.log("signalled")); setInterval(() => {}, 1000)`;
  for (const [more, after] of [
    [[], "started two"],
    [["--signal", "hup"], "signalled"],
  ] as const) {
    await person.data(["set", watched], { input: "one" });
    const args = [
      "run",
      "--watch",
      "--interval",
      "1",
      ...more,
      "--config",
      reader,
      "--",
      process.execPath,
      "-e",
      script,
    ];
    const child = start(person.home, args, { env: { COFFER_URL: url, VALUE: watched } });
    let out = "";
    child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
    const ended = outcomeOf(child);
    await until("the command", () => out.includes("started one"));
    await person.data(["set", uri("other", "value")], { input: "nothing to it" });
    await person.data(["set", watched], { input: "two" });
    await until("the change", () => out.includes(after));
    t.equal(out.trim().split("\n").length, 2, "once");
    child.kill("SIGTERM");
    const { stderr } = await ended;
    t.match(stderr, "coffer: VALUE changed");
    t.notMatch(stderr, "two");
  }
  t.match(await person.run(["run", "--watch", "--interval", "0", "--", "true"]), { code: 2 });
  t.match(await person.run(["run", "--watch", "--signal", "none", "--", "true"]), { code: 2 });
  t.match(await person.run(["run", "--watch", "--", "true"]), { code: 2, stderr: /nothing to watch/ });
});

await t.test("a dangling reference stops run before the command starts", async (t) => {
  const outcome = await person.run(["run", "--", "echo", "started"], { env: { DB: uri("no such", "field") } });
  t.match(outcome, { code: 5, stdout: "" });
});

await t.test("env prints the variables of run, safe for a shell, and a whole folder", async (t) => {
  await person.data(["set", uri("database", "odd")], { input: "it's $5" });
  const env = { DB: password, ODD: uri("database", "odd"), PLAIN: "x" };
  t.equal(await person.data(["env", "--config", reader], { env }), `DB=s3cret\nODD='it'\\''s $5'`);
  t.same(JSON.parse(await person.data(["env", "--json"], { env })), { DB: "s3cret", ODD: "it's $5" });
  const folder = JSON.parse(await person.data(["env", "--folder", "staging", "--json"])) as unknown;
  t.same(folder, { DEPLOY_KEY: "k" });
  t.match(await person.run(["env"]), { code: 2, stdout: "" });
});

await t.test("inject fills a template, all of it or nothing, with mode 0600", async (t) => {
  const template = join(person.home, "template");
  const out = join(person.home, "filled");
  writeFileSync(template, `password: {{ ${password} }}\nuser: {{${uri("database", "user")}}}\n`);
  await person.data(["inject", "-i", template, "-o", out, "--config", reader]);
  t.equal(readFileSync(out, "utf8"), "password: s3cret\nuser: app\n");
  t.equal(statSync(out).mode & 0o777, 0o600);
  const filled = await person.run(["inject"], { input: `<{{ ${password} }}>` });
  t.match(filled, { code: 0, stdout: "<s3cret>" });
  const json = await person.run(["inject", "--json"], { input: `<{{ ${password} }}>` });
  t.same(JSON.parse(json.stdout), { filled: "<s3cret>", references: 1 });
  writeFileSync(template, `{{ ${password} }}{{ ${uri("no such", "field")} }}`);
  t.match(await person.run(["inject", "-i", template, "-o", out]), { code: 5 });
  t.equal(readFileSync(out, "utf8"), "password: s3cret\nuser: app\n", "the existing file stays");
});

await t.test("a secret that cannot be opened is left out of a list, and reported", async (t) => {
  const { uid } = JSON.parse(
    (await person.run(["set", uri("altered", "a"), "--json"], { input: "1" })).stdout,
  ) as Listed;
  const client = new pg.Client({ connectionString: stores.postgres });
  await client.connect();
  await client.query("UPDATE auth_sm.secrets SET title_encrypted = 'AAAA' WHERE uid = $1", [uid]);
  await client.end();
  const { stdout, stderr, code } = await person.run(["ls", "production"]);
  t.equal(code, 0);
  t.match(stdout, "database");
  t.notMatch(stdout, uid);
  t.match(stderr, `coffer: left out: the title of ${uid}`);
  await person.data(["rm", uid]);
});

await t.test("many that set fields of one secret at once lose none, and make one secret", async (t) => {
  const names = [1, 2, 3, 4, 5, 6].map((number) => `f${number}`);
  await Promise.all(
    names.map((name, index) =>
      person.data(["set", ...(index % 2 === 0 ? ["--config", writer] : []), uri("shared", name)], { input: name }),
    ),
  );
  const found = (await listed(["ls", "production"])).filter(({ title }) => title === "shared");
  t.equal(found.length, 1);
  t.same(new Set(found[0]?.field_names), new Set(names));
});

await t.test("rm removes a field by notation, a secret with its last field, and a secret by uid", async (t) => {
  const removed = JSON.parse(
    await person.data(["rm", "--json", "--config", writer, uri("database", "odd")]),
  ) as unknown;
  t.match(removed, [{ removed: "field" }]);
  t.match(await person.run(["read", uri("database", "odd")]), { code: 5, stdout: "" });
  t.equal(await person.data(["read", password]), "s3cret");
  t.match(JSON.parse(await person.data(["rm", "--json", uri("deploy", "key", "staging")])), [{ removed: "secret" }]);
  t.same(await listed(["ls", "staging"]), []);
  const [shared] = await listed(["search", "shared"]);
  await person.data(["rm", shared?.uid ?? ""]);
  t.match(await person.run(["rm", shared?.uid ?? ""]), { code: 5 });
  await person.data(["set", uri("first", "v")], { input: "1" });
  const several = await person.run(["rm", uri("first", "v"), uri("gone", "v")]);
  t.match(several, { code: 5, stdout: "" });
  t.match(several.stderr, `\ncoffer: ${uri("gone", "v")}: production holds no such`);
});

await t.test("a secret that is made again after it was removed is a new one", async (t) => {
  await person.data(["set", uri("again", "v")], { input: "1" });
  await person.data(["rm", uri("again", "v")]);
  await person.data(["set", uri("again", "v")], { input: "2" });
  t.equal(await person.data(["read", "--config", reader, uri("again", "v")]), "2");
});

await t.test("a machine that may only read is denied to write, with exit 4", async (t) => {
  t.match(await person.run(["set", "--config", reader, password], { input: "no" }), { code: 4, stdout: "" });
  t.match(await person.run(["rm", "--config", reader, password]), { code: 4 });
  t.match(await person.run(["read", "--config", reader, uri("deploy", "key", "staging")]), { code: /[45]/ });
  t.equal(await person.data(["read", password]), "s3cret");
});

await t.test("a machine that was cut off is not authenticated within a second, with exit 3", async (t) => {
  const machine = await newMachine(person, "api", ["production:read"]);
  t.equal(await person.data(["read", "--config", machine, password]), "s3cret");
  const { client_id: id } = JSON.parse(readFileSync(machine, "utf8")) as { client_id: string };
  await person.data(["client", "rm", id]);
  const outcome = await person.run(["read", "--config", machine, password]);
  t.match(outcome, { code: 3, stdout: "", stderr: /: if this machine was revoked, it needs a new one-time token\n$/ });
  const clients = JSON.parse(await person.data(["client", "ls", "--app", "api", "--json"])) as unknown[];
  t.match(
    clients.find((client) => (client as { client_id: string }).client_id === id),
    { status: "revoked" },
  );
});

await t.test("whoami shows the identity, and folder rm wants to be forced", async (t) => {
  t.match(JSON.parse(await person.data(["whoami", "--json"])), { type: "user", user: { email: "owner@example.com" } });
  t.match(JSON.parse(await person.data(["whoami", "--json", "--config", reader])), {
    type: "client",
    folders: [{ name: "production", permission: "read" }],
  });
  const machine = await person.data(["whoami", "--config", reader]);
  t.match(
    machine,
    /^machine api \([0-9a-f-]{36}\) at http.*\nproduction: read\nfingerprint: [a-z ]+\nfingerprint in hex: [0-9a-f]{64}$/,
  );
  const refused = await person.run(["folder", "rm", "production"]);
  t.match(refused, {
    code: 1,
    stdout: "",
    stderr: "coffer: the folder production holds secrets: add --force to remove them with it\n",
  });
  await person.data(["folder", "rm", "production", "--force"]);
  const folders = JSON.parse(await person.data(["folder", "ls", "--json"])) as { name: string }[];
  t.same(
    folders.map(({ name }) => name),
    ["staging"],
  );
});
