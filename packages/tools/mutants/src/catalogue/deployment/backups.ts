import type { Mutant } from "../../mutant.ts";

const script = "charts/coffer/files/backup/backup.mjs";
const drill = "services/siem-forwarder/src/drill";
const chartTests = ["deploy/chart/test/backup.test.ts"] as const;
const drillTests = ["services/siem-forwarder/test/audit/restore-drill.test.ts"] as const;

/** What backups, drills and restores guard. */
export const backupMutants: readonly Mutant[] = [
  {
    name: "a-drill-does-not-compare-the-end-of-a-chain",
    file: `${drill}/verify-restored.ts`,
    find: "const whole = head.seq === end.seq && head.hash === end.hash;",
    replace: "const whole = head.seq >= 0 && end.seq >= 0;",
    tests: drillTests,
  },
  {
    name: "a-drill-misses-a-chain-without-an-end",
    file: `${drill}/verify-restored.ts`,
    find: "if (stray !== null) found.problem",
    replace: 'if (stray === "") found.problem',
    tests: drillTests,
  },
  {
    name: "a-drill-takes-fewer-records-than-before",
    file: `${drill}/report-drill.ts`,
    find: "result.records < former.records",
    replace: "result.records < 0",
    tests: drillTests,
  },
  {
    name: "a-failed-drill-does-not-show",
    file: `${drill}/drill-metrics.ts`,
    find: "({ problem }) => (problem === null ? 0 : 1),\n    newest,",
    replace: "({ problem }) => (problem === null ? 0 : 1),\n    succeeded,",
    tests: drillTests,
  },
  {
    name: "a-receiver-is-dumped-before-its-sender",
    file: "charts/coffer/templates/_backup.tpl",
    find: "- billing-webhook\n- auth-sm\n- vaults\n",
    replace: "- billing-webhook\n- vaults\n- auth-sm\n",
    tests: chartTests,
  },
  {
    name: "a-damaged-dump-is-restored",
    file: script,
    find: "found.bytes !== bytes || found.sha256 !== sha256",
    replace: "found.bytes !== bytes",
    tests: chartTests,
  },
  {
    name: "old-backups-stay",
    file: script,
    find: ".slice(0, -Number(keep))",
    replace: ".slice(0, 0 * Number(keep))",
    tests: chartTests,
  },
  {
    name: "a-restore-writes-over-data",
    file: "charts/coffer/files/backup/require-empty.sql",
    find: "IF relations > 0 THEN",
    replace: "IF relations < 0 THEN",
    tests: chartTests,
  },
  {
    name: "a-restore-runs-beside-services",
    file: "charts/coffer/files/backup/require-empty.sql",
    find: "IF others > 0 THEN",
    replace: "IF others < 0 THEN",
    tests: chartTests,
  },
  {
    name: "a-cut-own-backup-is-taken-as-whole",
    file: "packages/sdk/src/people/personal-backup.ts",
    find: "if (!ended)",
    replace: "if (parts.length === 0)",
    tests: ["packages/sdk/test/people/personal-backup.test.ts"],
  },
  {
    name: "parts-of-an-own-backup-may-be-exchanged",
    file: "packages/crypto/src/contexts.ts",
    find: 'build("backup", checked(uuid, backupId), checked(wholeNumber, String(part)))',
    replace: 'build("backup", checked(uuid, backupId), checked(wholeNumber, String(part)).slice(0, 0))',
    tests: ["packages/sdk/test/people/personal-backup.test.ts"],
  },
  {
    name: "a-recovery-seal-of-another-user-key-is-taken",
    file: "packages/sdk/src/people/personal-backup.ts",
    find: "opened.some((byte, index) => byte !== own[index])",
    replace: "opened.some((byte, index) => byte !== own[index] && index < 0)",
    tests: ["packages/sdk/test/people/personal-backup.test.ts"],
  },
  {
    name: "a-new-recovery-key-goes-unnoticed-by-backups",
    file: "packages/cli/src/commands/vaults/backup.ts",
    find: "if (known === hash) return seal;",
    replace: 'if (known !== undefined && hash !== "") return seal;',
    tests: ["deploy/local/test/cli/backup.test.ts"],
  },
];
