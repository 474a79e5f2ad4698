import { type Call, type CommandRow, jsonOption, type OptionRow } from "../command-row.ts";
import { readPlainWords } from "./plain-words.ts";

const scanConfig: OptionRow = {
  flags: "--config <file>",
  description: "the configuration (else .coffer-scan.toml at the root of the repository)",
};

/** What decides which secrets are found, for a scan and for a baseline. */
const finding: readonly OptionRow[] = [
  { flags: "--history", description: "all commits of all branches, tags and stashes, merges too, with their messages" },
  { flags: "--reflog", description: "with --history: also commits that only the reflog knows" },
  scanConfig,
  { flags: "--enable <rule>", description: "run a rule (id or kind) that is off by default", repeated: true },
  { flags: "--disable <rule>", description: "do not run a rule (id or kind)", repeated: true },
  {
    flags: "--min-confidence <confidence>",
    description: "report nothing that is less sure (medium)",
    choices: ["low", "medium", "high"],
  },
  { flags: "--max-file-mb <size>", description: "name larger files and do not scan them; 0 is no limit (64)" },
  { flags: "--threads <count>", description: "worker threads (as many as there are processors, at most 8)" },
  { flags: "--no-git-ignore", description: "scan files that git ignores too" },
  { flags: "--compat-comments", description: "accept gitleaks:allow, trufflehog:ignore and allowlist comments too" },
  { flags: "--binary", description: "search the printable runs of binary files too" },
];

export const scanRows: readonly CommandRow[] = [
  {
    name: "scan",
    args: "[paths...]",
    summary: "find credentials in files, commits and diffs; exit 1 with findings, 2 wrong use, 3 incomplete",
    examples: [
      "coffer scan",
      "coffer scan src config.yaml",
      "coffer scan --staged",
      "coffer scan --range origin/main..HEAD --format sarif > scan.sarif",
      "coffer scan --history --reflog",
      "git diff | coffer scan --diff",
    ],
    options: [
      { flags: "--staged", description: "the lines that the next commit would add" },
      { flags: "--range <commits>", description: "the lines that these commits add: A..B" },
      { flags: "--diff", description: "the lines that a unified diff on stdin adds" },
      { flags: "--stdin", description: "stdin, reported under the name of --path" },
      { flags: "--path <name>", description: "with --stdin: the name of what is on it (stdin)" },
      {
        flags: "--format <format>",
        description: "the form of the report",
        choices: ["text", "json", "sarif", "gitleaks-json", "junit", "csv", "github"],
        preset: "text",
      },
      { flags: "--baseline <file>", description: "leave out what this baseline holds (else .coffer-baseline.json)" },
      { flags: "--no-baseline", description: "leave out no baseline" },
      { flags: "--show-secrets", description: "print secrets in plain text" },
      { flags: "--exit-code <code>", description: "the exit code with findings (1)" },
      ...finding,
    ],
    load: async () => (await import("../commands/scan/scan.ts")).scan,
  },
  {
    name: "scan rules",
    args: "[action] [id]",
    summary: "list the rules, check them on their own examples, or explain one",
    examples: ["coffer scan rules list", "coffer scan rules check", "coffer scan rules explain github-personal-token"],
    options: [scanConfig, jsonOption],
    load: async () => (await import("../commands/scan/scan-rules.ts")).scanRules,
  },
  {
    name: "scan baseline",
    args: "<action> [paths...]",
    summary: "note the secrets that are there (create), or drop those that are there no more (prune)",
    examples: ["coffer scan baseline create", "coffer scan baseline create --history", "coffer scan baseline prune"],
    options: [
      { flags: "--output <file>", description: "the baseline's file (.coffer-baseline.json)" },
      ...finding,
      jsonOption,
    ],
    load: async () => (await import("../commands/scan/scan-baseline.ts")).scanBaseline,
  },
  {
    name: "scan install-hook",
    summary: "scan what is staged before each commit of this repository",
    examples: ["coffer scan install-hook"],
    options: [jsonOption],
    load: async () => (await import("../commands/scan/scan-install-hook.ts")).scanInstallHook,
  },
];

const [scanRow, ...subcommandRows] = scanRows as [CommandRow, ...CommandRow[]]; // as they are listed here
const subcommands = ["help", ...subcommandRows.map(({ name }) => name.split(" ")[1] ?? "")];

/** Runs `coffer scan` with these words; null when commander must read them. */
export function plainScan(words: readonly string[]): ((env: NodeJS.ProcessEnv) => Promise<void>) | null {
  const call = readPlainWords(scanRow, words, subcommands);
  if (call === null) return null;
  return async (env) => {
    const run = (await scanRow.load()) as (call: Call<object>) => Promise<void>;
    await run({ ...call, env });
  };
}
