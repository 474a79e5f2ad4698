import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { newRepository, tokenOf } from "./scan-repository.ts";
import { sarifSchema } from "./sarif-schema.ts";

const { write, commit, scan } = newRepository(testDirectory(t));
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

await t.test("SARIF fits its schema, also when it is empty or incomplete", async (t) => {
  const ajv = new Ajv({ allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(sarifSchema);
  write("damaged.gz", Buffer.from([0x1f, 0x8b, 8, 0, 1]));
  const sarifOf = async (...args: string[]) => {
    const { stdout } = await scan(["--format", "sarif", ...args]);
    const log = JSON.parse(stdout) as { runs: { results: object[] }[] };
    t.ok(validate(log), ajv.errorsText(validate.errors));
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

await t.test("CSV is quoted, and harmless in a spreadsheet", async (t) => {
  const { stdout } = await scan(["--format", "csv", '=weird"<&>.txt', "a b"]);
  const [head, ...lines] = stdout.split("\r\n");
  t.match(head, /^path,start_line,start_column,/);
  t.ok(lines.some((line) => line.startsWith(`"'=weird""<&>.txt",1,1,1,`)));
  t.ok(lines.some((line) => line.startsWith('"a b/ü,#.ts",1,29,1,69,')));
});

await t.test("JUnit is well-formed, with a failure for each place", async (t) => {
  const { stdout } = await scan(["--format", "junit"]);
  t.equal([...stdout.matchAll(/<failure /g)].length, 5);
  t.match(stdout, /tests="5" failures="5" errors="0"/);
  t.match(stdout, /name="=weird&#34;&#60;&#38;&#62;\.txt:1:1"/);
  t.match((await scan(["--format", "junit", "--min-confidence", "high", "b.env"])).stdout, /name="no secrets"/);
});

await t.test("annotations of GitHub are escaped", async (t) => {
  const { stdout } = await scan(["--format", "github", "a b"]);
  t.match(stdout, /^::error file=a b\/ü%2C#\.ts,line=1,endLine=1,col=29,endColumn=69,title=GitHub [^:]*::ghp_\*\*\*/);
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
