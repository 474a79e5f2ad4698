import type { Mutant } from "../mutant.ts";

const command = "packages/cli/src";
const keys = "packages/cli/test/known-keys.test.ts";
const ids = "packages/cli/test/ids.test.ts";
const exporting = "packages/cli/test/export.test.ts";

/** What the command believes of a service, and what it leaves behind on a person's machine. */
export const trustMutants: readonly Mutant[] = [
  {
    name: "key-of-another-e-mail-taken",
    file: `${command}/known-keys.ts`,
    find: "if (pin === pinOf(holder)) return undefined;",
    replace: "if (fingerprintIn(pin) === holder.fingerprint.hex) return undefined;",
    tests: [keys],
  },
  {
    name: "e-mail-with-another-key-taken-for-new",
    file: `${command}/known-keys.ts`,
    find: "sameEmail.some((one) => fingerprintIn(one) !== hex)",
    replace: 'sameEmail.some((one) => fingerprintIn(one) !== hex && hex === "")',
    tests: [keys],
  },
  {
    name: "holder-who-was-taken-away-not-missed",
    file: `${command}/known-keys.ts`,
    find: "(listed ? takenAway(holder, standing) : undefined)",
    replace: "(listed ? undefined : takenAway(holder, standing))",
    tests: [keys],
  },
  {
    name: "known-holder-taken-at-the-services-word",
    file: `${command}/known-keys.ts`,
    find: "(listed && standing === undefined ? onlyListed(holder) : undefined)",
    replace: '(listed && standing === "removed" ? onlyListed(holder) : undefined)',
    tests: [keys],
  },
  {
    name: "removed-holder-not-remembered",
    file: `${command}/forget-holders.ts`,
    find: "await rememberRemoved(directory, service, holderIds);",
    replace: "await rememberRemoved(directory, service, holderIds.slice(1));",
    tests: [keys],
  },
  {
    name: "removal-remembered-only-once-it-is-done",
    file: `${command}/forget-holders.ts`,
    find: "  await rememberRemoved(directory, service, holderIds);\n  await remove();\n",
    replace: "  await remove();\n  await rememberRemoved(directory, service, holderIds);\n",
    tests: [keys],
  },
  {
    name: "taking-off-remembered-only-once-it-is-done",
    file: `${command}/commands/share.ts`,
    find: "await rememberTakenOff(directory, service, id, [userId]);\n  await person.folders.unshare(id, userId);",
    replace: "await person.folders.unshare(id, userId);\n  await rememberTakenOff(directory, service, id, [userId]);",
    tests: [keys],
  },
  {
    name: "holder-who-is-no-member-taken-by-the-services-name",
    file: `${command}/known-keys.ts`,
    find: "{ ...asking, stranger: true }, { ...holder, name: `${name} (${id})` }",
    replace: "asking, holder",
    tests: [keys],
  },
  {
    name: "removal-everywhere-undone-by-one-folder",
    file: `${command}/known-holders.ts`,
    find: '[...folders, ...ids.map(anywhere)].map((key) => [key, "removed"])',
    replace: '[...folders].map((key) => [key, "removed"])',
    tests: [keys],
  },
  {
    name: "id-of-a-vault-taken-for-a-name",
    file: `${command}/access.ts`,
    find: "isUuid(wanted)",
    replace: "isUuid(wanted) && things.some(({ id }) => id === wanted)",
    tests: [ids],
  },
  {
    name: "e-mail-of-a-member-taken-for-a-name",
    file: `${command}/commands/member.ts`,
    find: 'text.includes("@") ? email',
    replace: 'text.includes("@") && email === text ? email',
    tests: [ids],
  },
  {
    name: "export-does-not-miss-records",
    file: `${command}/commands/export.ts`,
    find: "came < counted ?",
    replace: "came < 0 * counted ?",
    tests: [exporting],
  },
  {
    name: "short-export-replaces-a-whole-one",
    file: `${command}/commands/export.ts`,
    find: 'missing !== "" && (await isThere(path))',
    replace: 'missing === " " && (await isThere(path))',
    tests: [exporting],
  },
  {
    name: "session-ended-by-a-proxys-word",
    file: `${command}/commands/logout.ts`,
    find: "const ended = !error.foreign && (",
    replace: "const ended = (",
    tests: ["packages/cli/test/stores.test.ts"],
  },
  {
    name: "export-takes-an-addition-for-a-loss",
    file: `${command}/transfer/whole-list.ts`,
    find: "attempt === attempts",
    replace: "attempt < attempts",
    tests: [exporting],
  },
  {
    name: "export-dies-of-a-hangup-in-the-middle",
    file: `${command}/held-signals.ts`,
    find: '["SIGINT", "SIGTERM", "SIGHUP"]',
    replace: '["SIGINT", "SIGTERM"]',
    tests: [exporting],
  },
  {
    name: "empty-lock-held-for-minutes",
    file: `${command}/file-lock.ts`,
    find: "Number.isNaN(owner) ? emptyMilliseconds",
    replace: "Number.isNaN(owner) ? 24 * emptyMilliseconds",
    tests: ["packages/cli/test/profile.test.ts"],
  },
  {
    name: "logout-removes-what-is-no-store",
    file: `${command}/clear-stores.ts`,
    find: "if (await isReplicaOf(session, store.path))",
    replace: "if ((await isReplicaOf(session, store.path)) !== undefined)",
    tests: ["packages/cli/test/stores.test.ts"],
  },
];
