import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { command } from "../command.ts";
import { newRepository, placesIn, tokenOf } from "./scan-repository.ts";

const folder = testDirectory(t);
let count = 0;
const repository = () => newRepository(join(folder, `repository-${(count += 1)}`));
const json = ["--format", "json"];
const fingerprintIn = (stdout: string): string => /cf1:[0-9a-f]{32}/.exec(stdout)?.[0] ?? "";

await t.test("a baseline leaves out what was there, and says so", async (t) => {
  const { root, write, scan } = repository();
  write("a.txt", tokenOf(1));
  t.match(await scan(["baseline", "create"]), { code: 0, stderr: /1 secret in .*\.coffer-baseline\.json/ });
  t.match(await scan([]), { code: 0, stderr: /1 in the baseline \.coffer-baseline\.json/ });
  t.match(await scan(["--no-baseline"]), { code: 1 });
  write("a.txt", `\n\n  moved\n${tokenOf(1)}`);
  t.match(await scan([]), { code: 0 }, "a moved line is the same secret");
  write("b.txt", tokenOf(2));
  t.same(placesIn(await scan(json)), ["b.txt:1:1"]);
  const text = readFileSync(join(root, ".coffer-baseline.json"), "utf8");
  t.notMatch(text, /line|date|\d{4}-\d\d/);
  t.notOk(text.includes(tokenOf(1)));
});

await t.test("a baseline is sorted, and prune drops what is no longer there", async (t) => {
  const { root, write, scan } = repository();
  for (const seed of [1, 2, 3, 4]) write(`${seed}.txt`, tokenOf(seed));
  await scan(["baseline", "create", "--output", "base.json"]);
  const entries = () =>
    (JSON.parse(readFileSync(join(root, "base.json"), "utf8")) as { findings: { fingerprint: string }[] }).findings.map(
      ({ fingerprint }) => fingerprint,
    );
  const before = entries();
  t.equal(before.length, 4);
  t.same(before, [...before].sort());
  write("2.txt", "clean");
  write("5.txt", tokenOf(5));
  t.match(await scan(["baseline", "prune", "--output", "base.json"]), { code: 0, stderr: /3 secrets .*, 1 dropped/ });
  t.equal(entries().length, 3);
  t.ok(entries().every((entry) => before.includes(entry)));
  t.match(await scan(["--baseline", "base.json"]), { code: 1 });
  t.match(await scan(["baseline", "make"]), { code: 2 });
  write("broken.json", "{}");
  t.match(await scan(["--baseline", "broken.json"]), { code: 2, stderr: /is no baseline/ });
});

await t.test(
  ".cofferignore ignores fingerprints, in some paths, until a day, and unused entries are named",
  async (t) => {
    const { write, scan } = repository();
    write("a.txt", tokenOf(1));
    write("docs/b.txt", tokenOf(1));
    const fingerprint = fingerprintIn((await scan([])).stdout);
    write(".cofferignore", `# comment\n${fingerprint}  # an example of the documentation\n`);
    t.match(await scan([]), { code: 0, stderr: /1 in \.cofferignore/ });
    write(".cofferignore", `${fingerprint} docs/**\n`);
    t.same(placesIn(await scan(json)), ["a.txt:1:1"]);
    write(".cofferignore", `${fingerprint} until=2020-01-01\n`);
    t.match(await scan([]), { code: 1 });
    write(".cofferignore", `${fingerprint} until=2999-01-01 # later\ncf1:${"0".repeat(32)}\n`);
    t.match(await scan([]), { code: 0, stderr: /line 2: cf1:0{32} ignores nothing any more/ });
    write(".cofferignore", "a.txt\n");
    t.match(await scan([]), { code: 2, stderr: /\.cofferignore, line 1/ });
  },
);

await t.test("comments allow a finding, those of other scanners with --compat-comments", async (t) => {
  const { write, scan } = repository();
  write("a.ts", `// coffer:allow\nconst a = "${tokenOf(1)}";\n`);
  t.match(await scan([]), { code: 0 });
  write("a.ts", `const a = "${tokenOf(1)}"; // gitleaks:allow\n`);
  t.match(await scan([]), { code: 1 });
  t.match(await scan(["--compat-comments"]), { code: 0 });
});

await t.test("rules and confidences are chosen by options and by the configuration", async (t) => {
  const { write, scan } = repository();
  write("a.txt", `id ${tokenOf(1, "aws-access-key-id")}\n`);
  write("b.txt", `key ${tokenOf(1, "stripe-test-key")}\n`);
  t.same(placesIn(await scan(json)), ["a.txt:1:4"]);
  t.same(placesIn(await scan([...json, "--min-confidence", "low"])), ["a.txt:1:4", "b.txt:1:5"]);
  t.same(placesIn(await scan([...json, "--min-confidence", "high"])), []);
  t.same(placesIn(await scan([...json, "--disable", "aws-access-key-id"])), []);
  t.same(placesIn(await scan([...json, "--disable", "cloud-provider-access-key"])), []);
  write(".coffer-scan.toml", 'min_confidence = "low"\ndisable = ["aws-access-key-id"]\n');
  t.same(placesIn(await scan(json)), ["b.txt:1:5"]);
  write(".coffer-scan.toml", 'exclude = ["*.txt"]\n');
  t.same(placesIn(await scan([...json, "--min-confidence", "low"])), []);
  for (const [text, words] of [
    ["min_confidence = 7", /min_confidence must be one of/],
    ["min_confidense = 7", /min_confidense is not known/],
    ["= ", /is not TOML: line 1/],
    ['[[rules]]\nid = "x"\nkeywords = ["abc"]\npattern = "("', /pattern is no regular expression/],
    ['[[rules]]\nid = "x"\npattern = "a"', /keywords needs at least one text/],
  ] as const) {
    write(".coffer-scan.toml", text);
    t.match(await scan([]), { code: 2, stdout: "", stderr: words });
  }
});

await t.test("the rule for random values runs when it is enabled", async (t) => {
  const { write, scan } = repository();
  write("a.txt", tokenOf(1, "generic-high-entropy"));
  t.match(await scan([]), { code: 0 });
  t.match(await scan(["--enable", "generic-high-entropy"]), { code: 1 });
});

const custom = `[[rules]]
id = "acme-token"
kind = "acme token"
keywords = ["acme_"]
pattern = "acme_(?<secret>[a-z0-9]{20})"
entropy = 2.5
`;

await t.test("a rule of the configuration is run, listed and explained", async (t) => {
  const { write, scan } = repository();
  write(".coffer-scan.toml", custom);
  write("a.txt", "acme_k3j5h2l9d8s7f6a1q0w4");
  const outcome = await scan(json);
  t.match(outcome, { code: 1, stdout: /"rule_id": "acme-token"/ });
  t.same(placesIn(outcome), ["a.txt:1:6"]);
  t.notMatch(outcome.stdout, /k3j5h2l9/);
  t.match(await scan(["rules", "list"]), { code: 0, stdout: /^acme-token\tacme token\thigh/m });
  t.match(await scan(["rules", "explain", "acme-token"]), { code: 0, stdout: /acme_\(\?<secret>/ });
});

await t.test(
  "a rule that takes too long is named, the file is scanned with the others, and the scan is incomplete",
  async (t) => {
    const { write, scan } = repository();
    const endless = '[[rules]]\nid = "endless"\nkeywords = ["aaaa"]\npattern = "(?:a+)+$"\n';
    write(".coffer-scan.toml", `${custom}${endless}`);
    write("a.txt", `${"a".repeat(60)}! acme_k3j5h2l9d8s7f6a1q0w4\n${tokenOf(1)}\n`);
    write("b.txt", "acme_z3j5h2l9d8s7f6a1q0w4");
    const outcome = await scan(json);
    t.match(outcome, { code: 3, signal: null, stderr: /a\.txt rule endless took longer than 1 s/ });
    t.same(placesIn(outcome), ["a.txt:1:68", "a.txt:2:1", "b.txt:1:6"]);
  },
);

await t.test("rules are listed, checked and explained", async (t) => {
  const { scan } = repository();
  const { stdout } = await scan(["rules", "--json"]);
  t.ok((JSON.parse(stdout) as unknown[]).length > 150);
  t.match(await scan(["rules", "check"]), { code: 0, stdout: "", stderr: /rules checked, 0 problems/ });
  t.match(await scan(["rules", "explain", "github-personal-token"]), {
    code: 0,
    stdout: /decided by the checksum inside/,
  });
  t.match(await scan(["rules", "explain", "nope"]), { code: 2, stderr: /no such rule: nope/ });
  t.match(await scan(["rules", "nope"]), { code: 2 });
});

await t.test("the hook stops a commit with a secret, and keeps and runs the hook that was there", async (t) => {
  const { root, git, write, commit, scan } = repository();
  commit("first", { "a.txt": "clean" });
  const old = join(root, ".git/hooks/pre-commit");
  writeFileSync(old, '#!/bin/sh\necho ran >> "$(git rev-parse --show-toplevel)/ran"\n');
  chmodSync(old, 0o755);
  t.match(await scan(["install-hook"]), { code: 0, stderr: /pre-commit\.before-coffer/ });
  t.match(await scan(["install-hook"]), { code: 0 }, "twice is the same as once");
  t.ok(readFileSync(old, "utf8").includes(command), "the full path of the command");
  write("b.txt", tokenOf(1));
  git("add", "b.txt");
  const attempt = () =>
    spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "try"], {
      cwd: root,
      encoding: "utf8",
    });
  const refused = attempt();
  t.not(refused.status, 0);
  t.match(refused.stderr + refused.stdout, /b\.txt:1:1/);
  t.equal(readFileSync(join(root, "ran"), "utf8"), "ran\n");
  write("b.txt", "clean");
  git("add", "b.txt");
  t.equal(attempt().status, 0);
});

await t.test("the hook goes where core.hooksPath says", async (t) => {
  const { root, git, scan } = repository();
  git("config", "core.hooksPath", "own-hooks");
  await scan(["install-hook"]);
  t.ok(existsSync(join(root, "own-hooks/pre-commit")));
  t.notOk(existsSync(join(root, ".git/hooks/pre-commit")));
  t.match(execFileSync("sh", ["-n", join(root, "own-hooks/pre-commit")]).toString(), "");
});

await t.test(
  "what is given in a wrong place is not repeated, and neither is a file that is no configuration",
  async (t) => {
    const { write, scan } = repository();
    const token = `cft1_${tokenOf(1).slice(4)}Qz3`;
    const key = tokenOf(2, "aws-secret-access-key").slice(-40);
    for (const args of [
      [token],
      ["--enable", token],
      ["--config", token],
      ["--range", token],
      ["rules", "explain", token],
    ]) {
      const { code, stdout, stderr } = await scan(args);
      t.equal(code, 2, args.length > 1 ? args.join(" ") : "a path");
      t.notOk((stdout + stderr).includes(token));
    }
    for (const text of [
      key,
      `"${key}" = 1`,
      `[${JSON.stringify(key)}]`,
      `min_confidence = "${key}"`,
      `[[rules]]\nid = "${key}"`,
    ]) {
      write("other.toml", text);
      const { code, stdout, stderr } = await scan(["--config", "other.toml"]);
      t.equal(code, 2);
      t.notOk((stdout + stderr).includes(key));
    }
  },
);
