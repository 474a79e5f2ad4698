import { personOptions } from "../command-row.ts";
import type { CommandRow } from "../command-row.ts";

export const auditRows: readonly CommandRow[] = [
  {
    name: "audit ls",
    summary: "list the newest audit records of your organization",
    examples: [
      "coffer audit ls",
      "coffer audit ls --outcome denied --from 24h",
      "coffer audit ls --action client.bootstrapped --limit 1000 --json",
    ],
    options: [
      { flags: "--action <action>", description: "only this action, such as secret.read" },
      { flags: "--outcome <outcome>", description: "only this outcome", choices: ["success", "denied", "failure"] },
      { flags: "--actor <id>", description: "only what this person or machine did" },
      { flags: "--from <time>", description: "not before this time: 90m, 24h, 7d ago, a date, or ISO 8601" },
      { flags: "--to <time>", description: "before this time, written the same way" },
      { flags: "--limit <count>", description: "how many at most (50)" },
      ...personOptions,
    ],
    load: async () => (await import("../commands/audit.ts")).listAudit,
  },
  {
    name: "audit verify",
    summary:
      "recompute the chain of all audit records; exit 1 when one was changed, removed or moved, or the end was cut off",
    examples: ["coffer audit verify", "coffer audit verify --expect 1042:9f3a…  (what an earlier run printed)"],
    options: [
      {
        flags: "--expect <seq:hash>",
        description:
          "what an earlier run printed: also finds an end that was cut off without a trace, or records all made anew",
      },
      ...personOptions,
    ],
    load: async () => (await import("../commands/audit.ts")).verifyAudit,
  },
];
