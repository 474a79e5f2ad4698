import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory, until } from "@coffer/testkit";
import { outcomeOf, start } from "../../../../packages/cli/test/command.ts";
import { newPerson } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const person = await newPerson(t, url, "mover@example.com");
await person.data(["vault", "create", "Private"]);
const path = (name: string): string => join(person.home, name);

interface Report {
  format: string;
  items: number;
  imported: number;
  already_there: number;
  already_there_items: string[];
  deleted_here: string[];
  failed: unknown[];
  left_out: { kind: string; item: string | null; reason: string }[];
}
interface Listed {
  id: string;
  name: string;
  type: string;
}
const records = async (vault = "Private"): Promise<Listed[]> =>
  JSON.parse(await person.data(["record", "ls", vault, "--json"])) as Listed[];
/** The output of an import, also of one that left something out. */
const imported = async (args: string[]): Promise<Report> =>
  JSON.parse(await person.data(["import", "--json", "--skip", ...args])) as Report;

const file = {
  encrypted: false,
  folders: [{ id: "f", name: "Work" }],
  items: [
    {
      type: 1,
      name: "Shop",
      folderId: "f",
      login: { username: "ada", password: "canary-s3cret", uris: [{ uri: "https://shop.example" }] },
    },
    { type: 2, name: "Note", notes: "text", passwordHistory: [{ password: "canary-old" }] },
    { type: 2, name: "Note", notes: "text" },
    { type: 1, name: "Gone", deletedDate: "2025-01-01T00:00:00Z", login: { password: "canary-gone" } },
  ],
};
writeFileSync(path("bitwarden.json"), JSON.stringify(file));

await t.test("a dry run needs no vault and changes nothing, and reports omissions", async (t) => {
  const { stdout, stderr, code } = await person.run(["import", "--dry-run", path("bitwarden.json")]);
  t.match({ stdout, code }, { code: 1, stdout: "bitwarden-json: would import 3 records: 2 secure_note, 1 login\n" });
  t.match(stderr, /coffer: 2 parts of the file are left out, as named above; --skip accepts that\n$/);
  t.match(stderr, /left out, item: it is in the bin: Gone\n/);
  t.notMatch(stderr, /canary/);
  t.strictSame(await records(), []);
});

await t.test("imported records are there, also duplicates", async (t) => {
  const { code, stdout, stderr } = await person.run(["import", "--vault", "private", path("bitwarden.json")]);
  t.strictSame([code, stdout], [1, "imported 3 records into Private\n"]);
  t.match(stderr, /earlier passwords: 1: Note\n[^]*3 of 3 records\n[^]*in the clear: remove it/);
  t.notMatch(stderr, /canary/);
  const listed = await records();
  t.strictSame(listed.map(({ name, type }) => `${type} ${name}`).sort(), [
    "login Shop",
    "secure_note Note",
    "secure_note Note",
  ]);
  const shop = listed.find(({ name }) => name === "Shop");
  t.equal(await person.data(["record", "get", "Private", shop?.id ?? "", "password"]), "canary-s3cret");
  t.equal(await person.data(["record", "get", "Private", shop?.id ?? "", "folder"]), "Work");
});

await t.test("a dry run with the vault reports new and existing records", async (t) => {
  const some = { ...file, items: [{ type: 2, name: "Other", notes: "text" }, ...file.items.slice(0, 2)] };
  writeFileSync(path("some.json"), JSON.stringify(some));
  const plan = ["import", "--dry-run", "--vault", "Private", path("some.json")];
  const { code, stdout, stderr } = await person.run([...plan, "--skip"]);
  t.strictSame([code, stdout], [0, "bitwarden-json: would import 1 record: 1 secure_note into Private\n"]);
  t.match(stderr, /from an earlier import: 2 records: Shop, Note\n/);
  t.match(JSON.parse(await person.data([...plan, "--json", "--skip"])), {
    dry_run: true,
    would_import: 1,
    already_there: 2,
    already_there_items: ["Shop", "Note"],
    failed: [],
  });
  t.match(JSON.parse(await person.data([...plan, "--json", "--skip", "--as-new"])), {
    would_import: 3,
    already_there: 0,
  });
  t.equal((await records()).length, 3, "nothing was sent");
  t.match(await person.run(["import", "--dry-run", "--vault", "Nope", path("some.json")]), { code: 5 });
});

await t.test("a repeated import adds nothing, a later export only new records", async (t) => {
  const report = await imported(["--vault", "Private", path("bitwarden.json")]);
  t.match(report, { imported: 0, already_there: 3, deleted_here: [], failed: [] });
  const later = { ...file, items: [{ type: 2, name: "New" }, ...file.items.toReversed()] };
  writeFileSync(path("later.json"), JSON.stringify(later));
  t.match(await imported(["--vault", "Private", path("later.json")]), { imported: 1, already_there: 3 });
  t.equal((await records()).length, 4);
});

await t.test("deleted and changed records stay so; --as-new imports all again", async (t) => {
  const shop = (await records()).find(({ name }) => name === "Shop");
  const note = (await records()).find(({ name }) => name === "New");
  await person.data(["record", "set", "Private", shop?.id ?? "", "password"], { input: "changed" });
  await person.data(["record", "rm", "Private", note?.id ?? ""]);
  const report = await imported(["--vault", "Private", path("later.json")]);
  t.match(report, { imported: 0, already_there: 3, deleted_here: ["New"], failed: [] });
  writeFileSync(path("new.json"), JSON.stringify({ ...file, folders: [], items: [{ type: 2, name: "New" }] }));
  const gone = await person.run(["import", "--vault", "Private", path("new.json")]);
  t.match(gone, { code: 1, stderr: /deleted here since an earlier import \(--as-new [^)]*\): 1 record: New\n/ });
  t.equal(await person.data(["record", "get", "Private", shop?.id ?? "", "password"]), "changed");
  t.match(await imported(["--vault", "Private", "--as-new", path("later.json")]), { imported: 4, already_there: 0 });
  t.equal((await records()).length, 7);
});

await t.test("more than one piece, from stdin, and again after it was cut off", async (t) => {
  await person.data(["vault", "create", "Large"]);
  const rows = Array.from({ length: 2_300 }, (_, index) => `n${index},https://e${index}.example,u,p${index},`);
  const table = (count: number): string => ["name,url,username,password,note", ...rows.slice(0, count)].join("\n");
  await person.data(["import", "--vault", "Large", "-"], { input: table(1_200) });
  const { stderr, stdout } = await person.run(["import", "--vault", "Large", "-"], { input: table(2_300) });
  t.equal(stdout, "imported 1100 records into Large\n");
  t.match(
    stderr,
    /1000 of 1100 records\n1100 of 1100 records\nfrom an earlier import: 1200 records: n0, n1, .*, 1180 more/,
  );
  t.equal((await records("Large")).length, 2_300);
});

await t.test("a killed import continues when it is repeated", async (t) => {
  await person.data(["vault", "create", "Killed"]);
  const rows = Array.from({ length: 3_000 }, (_, index) => `k${index},https://k${index}.example,u,p${index},`);
  writeFileSync(path("many.csv"), ["name,url,username,password,note", ...rows].join("\n"));
  const child = start(person.home, ["import", "--vault", "Killed", path("many.csv")], { env: { COFFER_URL: url } });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = outcomeOf(child);
  await until("the first piece is sent", () => said.includes("1000 of 3000 records"));
  child.kill("SIGKILL");
  await ended;
  const before = (await records("Killed")).length;
  t.ok(before >= 1_000, `${before} were there`);
  const { imported: more, already_there: present, failed } = await imported(["--vault", "Killed", path("many.csv")]);
  t.strictSame([more + present, failed], [3_000, []]);
  t.equal((await records("Killed")).length, 3_000);
});

for (const format of ["coffer-json", "bitwarden-json", "keepass-xml"])
  await t.test(`${format}: exported records are imported unchanged`, async (t) => {
    const to = path(`out.${format}`);
    await person.data(["export", "--vault", "Private", "--format", format, to]);
    t.equal(statSync(to).mode & 0o777, 0o600);
    t.match(await imported(["--dry-run", to]), { format, items: 7, left_out: [] });
    await person.data(["vault", "create", format]);
    await person.data(["import", "--vault", format, to]);
    const contents = async (vault: string): Promise<string[]> => {
      const out = JSON.parse(await person.data(["export", "--vault", vault, "--format", "coffer-json", "-"])) as {
        records: { type: string; payload: Record<string, string> }[];
      };
      return out.records.map(({ type, payload }) => JSON.stringify([type, Object.entries(payload).sort()])).sort();
    };
    t.strictSame(await contents(format), await contents("Private"));
  });

await t.test("an existing file stays, stdout has only the file, and omissions of a format are reported", async (t) => {
  writeFileSync(path("there"), "mine");
  const args = ["export", "--vault", "Private", "--format", "chrome-csv"];
  t.match(await person.run([...args, path("there")]), { code: 2, stdout: "", stderr: /--force/ });
  t.equal(readFileSync(path("there"), "utf8"), "mine");
  await person.data([...args, "--force", path("there")]);
  t.match(readFileSync(path("there"), "utf8"), /^"name","url","username","password","note"\r\n"Shop",/);
  t.equal(statSync(path("there")).mode & 0o777, 0o600);
  const { stdout, stderr } = await person.run([...args, "-"]);
  t.equal(stdout, readFileSync(path("there"), "utf8"));
  t.match(stderr, /no place for the type secure_note: .*Note/);
  t.match(await person.run([...args, "--json", "-"]), { code: 2, stdout: "" });
});

await t.test("wrong use and wrong files end with 2 and name the expected form, before any request", async (t) => {
  writeFileSync(path("diary.txt"), "canary diary");
  for (const [args, stderr] of [
    [["import", path("bitwarden.json")], /--vault/],
    [["import", "--vault", "Private", path("nowhere")], /cannot be read/],
    [["import", "--vault", "Private", path("diary.txt")], /no table; supported formats: bitwarden-json/],
    [
      ["import", "--vault", "Private", "--format", "1pux", path("bitwarden.json")],
      /no 1pux: it looks like bitwarden-json/,
    ],
    [["import", "--vault", "Private", "--format", "tsv", path("bitwarden.json")], /Allowed choices/],
  ] as const) {
    const outcome = await person.run([...args]);
    t.match(outcome, { code: 2, stdout: "", stderr });
    t.notMatch(outcome.stderr, /canary/);
  }
  t.match(await person.run(["import", "--vault", "Nope", path("bitwarden.json")]), { code: 5 });
});

await t.test(
  "a table of another program: columns are mapped or become custom fields, and omitted rows are reported",
  async (t) => {
    await person.data(["vault", "create", "Tables"]);
    const finnish = "Otsikko;Tunnus;Salasana;URL;Muistiinpanot;Nr.\r\nLaden;ada;canary-pw;https://shop.example;n;7\r\n";
    writeFileSync(path("finnish.csv"), finnish);
    const refused = await person.run(["import", "--vault", "Tables", path("finnish.csv")]);
    t.match(refused, { code: 2, stdout: "", stderr: /"Otsikko", "Tunnus", "Salasana", "URL", .*--map/ });
    t.notMatch(refused.stderr, /canary|Laden/);
    const map = ["Otsikko=name", "Tunnus=username", "Salasana=password", "Muistiinpanot=notes"].flatMap((pair) => [
      "--map",
      pair,
    ]);
    t.match(await person.run(["import", "--vault", "Tables", ...map, path("finnish.csv")]), {
      code: 0,
      stdout: "imported 1 record into Tables\n",
    });
    const [laden] = await records("Tables");
    for (const [field, value] of [
      ["password", "canary-pw"],
      ["notes", "n"],
      ["custom.Nr.", "7"],
    ] as const)
      t.equal(await person.data(["record", "get", "Tables", laden?.id ?? "", field]), value);
    writeFileSync(
      path("rows.csv"),
      "Name,URL,Username,Password,Notes\na,https://a.example,u,canary-a\nb,,u,can,ary-b,,x\n",
    );
    const some = await person.run(["import", "--vault", "Tables", path("rows.csv")]);
    t.match(some, { code: 1, stdout: "imported 1 record into Tables\n" });
    t.match(some.stderr, /left out, item: the row has 7 cells under 5 headings: line 3\n/);
    t.match(some.stderr, /note: rows with fewer cells .*: line 2\n/);
    t.notMatch(some.stderr, /canary|ary-b/);
    for (const [pair, stderr] of [
      ["Otsikko", /--map takes <column>=<field>/],
      ["=name", /--map takes <column>=<field>/],
      ["Otsikko=nombre", /no record has a field "nombre"; fields: name, /],
      ["Nowhere=name", /no column "Nowhere"/],
    ] as const)
      t.match(await person.run(["import", "--vault", "Tables", "--map", pair, path("finnish.csv")]), {
        code: 2,
        stderr,
      });
  },
);
