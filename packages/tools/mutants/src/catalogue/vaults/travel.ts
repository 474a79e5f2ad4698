import type { Mutant } from "../../mutant.ts";

const source = "services/vaults/src";
const tests = "services/vaults/test";

/** The effects of travel mode, and its switch. */
export const travelMutants: readonly Mutant[] = [
  {
    name: "vault-hidden-by-travel-mode-differs-from-none",
    file: `${source}/access/vault.ts`,
    find: "(!row.seen && (row.hidden_by_travel || !row.belongs))",
    replace: "(!row.seen && !row.belongs)",
    tests: [`${tests}/members/travel.test.ts`],
  },
  {
    name: "journey-ended-by-a-manager-who-is-younger",
    file: `${source}/travel/set.ts`,
    find: "changeableJourney(person, standingSince)",
    replace: "changeableJourney(person, undefined)",
    tests: [`${tests}/members/travel.test.ts`],
  },
  {
    name: "invitation-accepted-while-travelling-without-a-proof",
    file: "services/auth-sm/src/invites/accept.ts",
    find: "if (travelling) return",
    replace: 'if (travelling && call.body.otp === "x") return',
    tests: ["services/auth-sm/test/accounts/travel-mode.test.ts"],
  },
  {
    name: "changed-role-with-its-old-age",
    file: "services/auth-sm/src/store/organizations/members.ts",
    find: "CASE WHEN role = ${role} THEN",
    replace: "CASE WHEN role <> '' OR role = ${role} THEN",
    tests: ["services/auth-sm/test/accounts/travel-mode.test.ts"],
  },
  {
    name: "travel-mode-set-in-a-session-that-ended-meanwhile",
    file: `${source}/travel/set.ts`,
    find: "    if (sessionId !== undefined) deps.users.requireActiveSession({ sessionId });\n",
    replace: "",
    tests: [`${tests}/members/travel.test.ts`],
  },
  {
    name: "vault-seen-while-travelling",
    file: `${source}/store/sync/visibility.ts`,
    find: "        AND (v.safe_for_travel OR p.travelling IS NOT TRUE)\n",
    replace: "",
    tests: [`${tests}/members/travel.test.ts`],
  },
  {
    name: "travel-mode-set-after-its-caller-gave-up",
    file: `${source}/travel/set.ts`,
    find: "    await applyDeadline(tx);\n    if (sessionId",
    replace: "    if (sessionId",
    tests: [`${tests}/members/travel.test.ts`],
  },
  {
    name: "travel-mode-set-after-its-deadline",
    file: `${source}/travel/set.ts`,
    find: "until === undefined ? Infinity : Date.parse(until)",
    replace: "until === undefined ? Infinity : Infinity",
    tests: [`${tests}/members/travel.test.ts`],
  },
  {
    name: "travel-mode-committed-after-a-pause",
    file: `${source}/store/statement-limit.ts`,
    find: "set_config('idle_in_transaction_session_timeout', ${most}, true)",
    replace: "set_config('statement_timeout', ${most}, true)",
    tests: [`${tests}/members/travel.test.ts`],
  },
  {
    name: "vault-that-travel-mode-hides-deleted-by-a-role",
    file: `${source}/access/removable.ts`,
    find: "row === null || row.hidden_by_travel ||",
    replace: "row === null ||",
    tests: [`${tests}/authorization.test.ts`],
  },
  {
    name: "travel-mode-not-on-record",
    file: `${source}/travel/set.ts`,
    find: "    for (const record of audit) await enqueueAudit(tx, record);\n",
    replace: "",
    tests: [`${tests}/members/travel.test.ts`],
  },
];
