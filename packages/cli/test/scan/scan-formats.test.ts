import { join } from "node:path";
import { builtInRules } from "@coffer/scan";
import { testDirectory } from "@coffer/testkit";
import { parse } from "csv-parse/sync";
import t from "tap";
import { junitProblems, sarifProblems } from "./report-schemas.ts";
import { newRepository, tokenOf } from "./scan-repository.ts";

const folder = testDirectory(t);
const { write, commit, scan } = newRepository(join(folder, "common"));
const secrets = [
  tokenOf(1),
  tokenOf(1, "aws-access-key-id"),
  tokenOf(1, "rsa-private-key"),
  tokenOf(1, "slack-bot-token"),
];
const [token = "", accessKey = "", key = "", bot = ""] = secrets;
const formats = ["text", "json", "sarif", "gitleaks-json", "junit", "csv", "github"];

write("a b/ü,#.ts", `const a = "ü🗝"; const b = "${token}";\n`);
write("b.env", `ID=${accessKey}\n`);
write("keys/id.pem", `${key}\n`);
write('=weird"<&>.txt', `${bot} ${token}\n`);
commit("all", {});

/** What of each secret no output may hold. */
const needles = [token.slice(4), accessKey.slice(4), bot.slice(-24), ...key.split("\n").slice(1, -1)];

await t.test("no format holds a secret, unless it is asked for", async (t) => {
  for (const format of formats)
    for (const args of [[], ["--history"], ["--min-confidence", "low"]]) {
      const { code, stdout, stderr } = await scan(["--format", format, ...args]);
      t.equal(code, 1, format);
      t.match(stdout, /ghp_\*\*\*/, format);
      for (const needle of needles) t.notOk((stdout + stderr).includes(needle), `${format} ${args.join(" ")}`);
    }
  for (const format of formats)
    t.ok((await scan(["--format", format, "--show-secrets"])).stdout.includes(token), format);
});

await t.test("JSON: one finding for each secret, with all its places", async (t) => {
  const { stdout } = await scan(["--format", "json"]);
  const report = JSON.parse(stdout) as { findings: { fingerprint: string; locations: unknown[] }[] };
  t.equal(report.findings.length, 4);
  t.match(report, {
    findings: [
      { rule_id: "slack-bot-token", locations: [{ path: '=weird"<&>.txt', start_line: 1, start_column: 1 }] },
      {
        kind: "code-host personal token",
        rule_id: "github-personal-token",
        confidence: "high",
        redacted: "ghp_***",
        length: 40,
        checksum: "valid",
        locations: [
          { path: '=weird"<&>.txt', start_line: 1 },
          { path: "a b/ü,#.ts", start_line: 1, start_column: 29, end_line: 1, end_column: 69 },
        ],
      },
      { rule_id: "aws-access-key-id", account_id: /^\d{12}$/ },
      { rule_id: "rsa-private-key" },
    ],
    summary: { findings: 4, complete: true, problems: [], inputs: 4 },
  });
});

/**
 * A repository with an example of each rule, and secrets in files whose names no format may take
 * for its own signs.
 */
const strange = newRepository(join(folder, "strange"));
const strangeNames = [
  ...["=1+1", "+1", "-1", "@sum", "\t1", "\n1", "\uff1d1", 'a,"b",c', "a\nb", "a\r\nb", "50%", "%0A", "a:b,c::d"],
  ...["::error::x", "<a>&amp;'\u0001", "]]>", "\u202ex", "ü 🗝", "back\\slash", "a#b?c"],
];
strangeNames.forEach((name, index) => strange.write(`names/${name}`, `${tokenOf(100 + index)}\n`));
for (const { id } of builtInRules) strange.write(`rules/${id}.txt`, `${tokenOf(1, id)}\n`);
strange.write("damaged.gz", Buffer.from([0x1f, 0x8b, 8, 0, 1]));
strange.commit(`a message with ${tokenOf(99)}`, {});
const everyRule = ["--min-confidence", "low", "--enable", "generic-high-entropy"];
await t.test("SARIF fits the schema of OASIS: every rule, strange names, commits, problems", async (t) => {
  t.match(
    sarifProblems({ version: "2.1.0", runs: [{ results: [] }] }),
    [/required property 'tool'/],
    "it is the schema",
  );
  for (const args of [everyRule, [...everyRule, "--history"], ["damaged.gz"]]) {
    const { stdout } = await strange.scan(["--format", "sarif", ...args]);
    const log = JSON.parse(stdout) as { runs: { results: { ruleId: string }[] }[] };
    t.same(sarifProblems(log), [], args.join(" "));
    if (args !== everyRule) continue;
    const found = new Set(log.runs[0]?.results.map(({ ruleId }) => ruleId));
    t.ok(found.size > builtInRules.length * 0.9, `${found.size} rules`);
  }
});

await t.test("a place in SARIF is an address from which the name of the file can be read", async (t) => {
  const { stdout } = await strange.scan(["--format", "sarif", "names"]);
  const { runs } = JSON.parse(stdout) as {
    runs: { results: { locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }[] }[];
  };
  const names = runs[0]?.results.map((result) =>
    decodeURIComponent(
      new URL(result.locations[0]?.physicalLocation.artifactLocation.uri ?? "", "file:///root/").pathname.slice(6),
    ),
  );
  t.same(names?.sort(), strangeNames.map((name) => `names/${name}`).sort());
});

await t.test("SARIF fits its schema, also when it is empty or incomplete", async (t) => {
  write("damaged.gz", Buffer.from([0x1f, 0x8b, 8, 0, 1]));
  const sarifOf = async (...args: string[]) => {
    const { stdout } = await scan(["--format", "sarif", ...args]);
    const log = JSON.parse(stdout) as { runs: { results: object[] }[] };
    t.same(sarifProblems(log), []);
    return log;
  };
  const full = await sarifOf("a b", "b.env", "keys");
  t.match(full.runs, [{ columnKind: "utf16CodeUnits", invocations: [{ executionSuccessful: true }] }]);
  t.match(full.runs[0]?.results, [
    {
      ruleId: "github-personal-token",
      level: "error",
      partialFingerprints: { "cofferFingerprint/v1": /^cf1:/ },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "a%20b/%C3%BC%2C%23.ts", uriBaseId: "SRCROOT" },
            region: { startLine: 1, startColumn: 29, endColumn: 69, snippet: { text: "ghp_***" } },
          },
        },
      ],
    },
    { ruleId: "aws-access-key-id", level: "warning" },
    { ruleId: "rsa-private-key" },
  ]);
  t.same((await sarifOf("b.env", "--min-confidence", "high")).runs[0]?.results, []);
  t.match((await sarifOf("damaged.gz")).runs, [
    {
      invocations: [{ executionSuccessful: false, toolExecutionNotifications: [{ level: "error" }] }],
      results: [],
    },
  ]);
  write("damaged.gz", "");
});

await t.test("a baseline's findings are not in SARIF", async (t) => {
  await scan(["baseline", "create", "--output", "all.json"]);
  const { code, stdout } = await scan(["--format", "sarif", "--baseline", "all.json", "b.env"]);
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { runs: [{ results: [] }] });
});

await t.test("CSV is read back as it was, and no cell begins as a formula does", async (t) => {
  const { stdout } = await scan(["--format", "csv", '=weird"<&>.txt', "a b"]);
  const [head, ...lines] = stdout.split("\r\n");
  t.match(head, /^path,start_line,start_column,/);
  t.ok(lines.some((line) => line.startsWith(`"'=weird""<&>.txt",1,1,1,`)));
  t.ok(lines.some((line) => line.startsWith('"a b/ü,#.ts",1,29,1,69,')));
  for (const sign of ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]) {
    const path = `${sign}HYPERLINK("x")`;
    const { stdout } = await scan(["--stdin", `--path=${path}`, "--format", "csv"], { input: token });
    t.equal(parse(stdout)[1]?.[0], `'${path}`);
  }
  const { stdout: named } = await strange.scan(["--format", "csv", "names"]);
  const rows = parse<{ path: string }>(named, { columns: true });
  t.same(rows.map(({ path }) => path).sort(), strangeNames.map((name) => `names/${name}`).sort());
});

await t.test("JUnit is well-formed, with a failure for each place", async (t) => {
  const { stdout } = await scan(["--format", "junit"]);
  t.equal([...stdout.matchAll(/<failure /g)].length, 5);
  t.match(stdout, /tests="5" failures="5" errors="0"/);
  t.match(stdout, /name="=weird&#34;&#60;&#38;&#62;\.txt:1:1"/);
  const clean = (await scan(["--format", "junit", "--min-confidence", "high", "b.env"])).stdout;
  t.match(clean, /name="no secrets"/);
  t.same(await junitProblems(clean), []);
  t.same(await junitProblems(stdout), []);
  t.not((await junitProblems(stdout.replace("</testsuites>", ""))).length, 0, "the schema is applied");
  t.not((await junitProblems(stdout.replace(' tests="5"', ""))).length, 0);
  for (const args of [everyRule, [...everyRule, "--history"], ["damaged.gz"]])
    t.same(await junitProblems((await strange.scan(["--format", "junit", ...args])).stdout), [], args.join(" "));
});

/** The command of one line as GitHub's runner reads it. */
function commandIn(line: string): { command: string; properties: Record<string, string>; message: string } {
  const [, command = "", list = "", message = ""] = /^::(\w+) (.*?)::(.*)$/.exec(line) ?? [];
  const plain = (text: string, signs: Record<string, string>): string =>
    Object.entries(signs).reduce((so, [escape, sign]) => so.replaceAll(escape, sign), text);
  const properties = list.split(",").map((pair) => {
    const [name = "", ...value] = pair.split("=");
    const signs = { "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%" };
    return [name, plain(value.join("="), signs)];
  });
  return {
    command,
    properties: Object.fromEntries(properties) as Record<string, string>,
    message: plain(message, { "%0D": "\r", "%0A": "\n", "%25": "%" }),
  };
}

await t.test("annotations of GitHub are read back as they were, one for each place", async (t) => {
  const { stdout } = await scan(["--format", "github", "a b"]);
  t.match(stdout, /^::error file=a b\/ü%2C#\.ts,line=1,endLine=1,col=29,endColumn=69,title=GitHub [^:]*::ghp_\*\*\*/);
  const report = (await strange.scan(["--format", "github", "names"])).stdout;
  const commands = report.trimEnd().split("\n").map(commandIn);
  t.same(
    commands.map(({ properties }) => properties["file"]).sort(),
    strangeNames.map((name) => `names/${name}`).sort(),
  );
  for (const { command, properties, message } of commands) {
    t.equal(command, "error");
    t.same(Object.keys(properties), ["file", "line", "endLine", "col", "endColumn", "title"]);
    t.match(message, /^ghp_\*\*\* .*cf1:[0-9a-f]{32}$/);
  }
  const { message, command } = commandIn((await strange.scan(["--format", "github", "damaged.gz"])).stdout.trimEnd());
  t.equal(command, "error");
  t.match(message, /^damaged\.gz is no whole gzip file/);
});

await t.test("gitleaks' form has its names, and an inclusive end", async (t) => {
  const { stdout } = await scan(["--format", "gitleaks-json", "a b"]);
  t.match(JSON.parse(stdout), [{ RuleID: "github-personal-token", File: "a b/ü,#.ts", StartLine: 1, EndColumn: 68 }]);
});

await t.test("the text says what to do next", async (t) => {
  const { stdout, stderr } = await scan(["a b"]);
  t.match(
    stdout,
    /^a b\/ü,#\.ts:1:29 {2}GitHub personal access token .*\n {2}ghp_\*\*\* .*\n {2}revoke: https:\/\/github\.com\/settings\/tokens\n/,
  );
  t.match(stderr, /coffer: 1 secret in 1 input/);
  t.match(stderr, /Revoke each secret/);
  t.match(stderr, /coffer:allow/);
});
