import type { Mutant } from "../../mutant.ts";

const source = "services/auth-sm/src";
const store = `${source}/store/accounts/device-credentials.ts`;
const test = "services/auth-sm/test/accounts/device-credentials.test.ts";

/** Device credentials, and their end. */
export const deviceCredentialMutants: readonly Mutant[] = [
  {
    name: "device-of-another-account-is-known",
    file: store,
    find: "AND user_id = ${userId}\n      AND made_at >",
    replace: "AND ${userId} IS NOT NULL\n      AND made_at >",
    tests: [test],
  },
  {
    name: "device-known-for-ever",
    file: store,
    find: "AND made_at > ${since.toISOString()}::timestamptz",
    replace: "AND made_at > ${new Date(since.getTime() * 0).toISOString()}::timestamptz",
    tests: [test],
  },
  {
    name: "device-delayed-by-others",
    file: `${source}/accounts/count-start.ts`,
    find: "return deviceHash === null ?",
    replace: "return deviceHash === null || deviceHash.length > 0 ?",
    tests: [test],
  },
  {
    name: "device-counts-as-everyone",
    file: `${source}/accounts/count-start.ts`,
    find: ': [`device ${deviceHash.toString("base64url")}`]',
    replace: ': [`device ${deviceHash.toString("base64url")}`, everywhere]',
    tests: [test],
  },
  {
    name: "device-not-counted",
    file: `${source}/accounts/count-start.ts`,
    find: ': [`device ${deviceHash.toString("base64url")}`]',
    replace: ": []",
    tests: [test],
  },
  {
    name: "device-credential-not-replaced-by-a-login",
    file: `${source}/sessions/open.ts`,
    find: "replaces: deviceHash,",
    replace: "replaces: deviceHash === null ? deviceHash : null,",
    tests: [test],
  },
  {
    name: "device-of-a-revoked-session-stays-known",
    file: `${source}/sessions/revoke.ts`,
    find: 'if (reason !== "logged_out") await deleteCredentialOf(tx, session.id);',
    replace: 'if (reason === "logged_out") await deleteCredentialOf(tx, "00000000-0000-4000-8000-000000000000");',
    tests: [test],
  },
  {
    name: "device-of-a-logout-forgotten",
    file: `${source}/sessions/revoke.ts`,
    find: 'if (reason !== "logged_out") await deleteCredentialOf',
    replace: "await deleteCredentialOf",
    tests: [test],
  },
  {
    name: "other-devices-known-after-a-change-of-the-password",
    file: `${source}/sessions/revoke.ts`,
    find: "await deleteOtherCredentials(tx, userId, except ?? null);",
    replace: "if (except === userId) await deleteOtherCredentials(tx, userId, except);",
    tests: [test],
  },
  {
    name: "devices-of-an-account-unbounded",
    file: store,
    find: "OFFSET ${most - 1})",
    replace: "OFFSET ${most * 10})",
    tests: [test],
  },
  {
    name: "device-credentials-stored-as-they-are",
    file: `${source}/accounts/device-credential.ts`,
    find: 'return createHash("sha256").update(text).digest();',
    replace: 'return Buffer.from(text + createHash("sha256").digest("hex").slice(64));',
    tests: [test],
  },
  {
    name: "command-shows-its-device-to-any-account",
    file: "packages/cli/src/profile/profile.ts",
    find: "each.service === service && each.email === wanted)",
    replace: "each.service === service && wanted !== each.credential)",
    tests: ["packages/cli/test/profile.test.ts"],
  },
  {
    name: "command-forgets-its-device-at-logout",
    file: "packages/cli/src/profile/profile.ts",
    find: "return { ...profile, sessions: Object.fromEntries(others) };",
    replace: "return { ...profile, sessions: Object.fromEntries(others), devices: [] };",
    tests: ["packages/cli/test/profile.test.ts"],
  },
];
