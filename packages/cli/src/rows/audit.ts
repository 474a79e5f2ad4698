import { type CommandRow, type OptionRow, orgOption, personOptions, urlOption } from "../command-row.ts";

const filterOptions: readonly OptionRow[] = [
  { flags: "--action <action>", description: "only this action, such as secret.read" },
  { flags: "--outcome <outcome>", description: "only this outcome", choices: ["success", "denied", "failure"] },
  { flags: "--actor <id>", description: "only what this person or machine did" },
  { flags: "--from <time>", description: "not before this time: 90m, 24h, 7d ago, a date, or ISO 8601" },
  { flags: "--to <time>", description: "before this time, written the same way" },
];

export const auditRows: readonly CommandRow[] = [
  {
    name: "audit ls",
    summary: "list the newest audit records of your organization",
    examples: [
      "coffer audit ls",
      "coffer audit ls --outcome denied --from 24h",
      "coffer audit ls --action client.bootstrapped --limit 1000 --json",
    ],
    options: [...filterOptions, { flags: "--limit <count>", description: "how many at most (50)" }, ...personOptions],
    load: async () => (await import("../commands/audit/audit.ts")).listAudit,
  },
  {
    name: "audit export",
    summary: "write the audit records of your organization, oldest first, as JSON lines or CSV; resumable",
    examples: [
      "coffer audit export --out audit.jsonl",
      "coffer audit export --out audit.jsonl --resume  (what has been recorded since)",
      "coffer audit export --format csv --outcome denied --from 30d > denied.csv",
    ],
    options: [
      {
        flags: "--format <format>",
        description: "JSON lines have the whole records; CSV has a column for each field, all quoted",
        choices: ["jsonl", "csv"],
        preset: "jsonl",
      },
      { flags: "--out <file>", description: "write to this new file (else to stdout)" },
      { flags: "--resume", description: "go on behind the last record of the file of --out" },
      { flags: "--after <seq>", description: "only records after this one of the chain" },
      ...filterOptions,
      urlOption,
      orgOption,
    ],
    load: async () => (await import("../commands/audit/audit-export.ts")).exportAudit,
  },
  {
    name: "audit verify",
    summary:
      "recompute the chain of all audit records; exit 1 when one was changed, removed or moved, or the end was truncated",
    examples: ["coffer audit verify", "coffer audit verify --expect 1042:9f3a…  (what an earlier run printed)"],
    options: [
      {
        flags: "--expect <seq:hash>",
        description: "what an earlier run printed: also detects a truncated or completely replaced chain",
      },
      ...personOptions,
    ],
    load: async () => (await import("../commands/audit/audit.ts")).verifyAudit,
  },
];
