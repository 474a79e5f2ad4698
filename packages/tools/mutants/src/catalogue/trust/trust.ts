import type { Mutant } from "../../mutant.ts";

const command = "packages/cli/src";
const ids = "packages/cli/test/ids.test.ts";
const exporting = "packages/cli/test/export.test.ts";

/** The command's checks of a service, and the files that it leaves. */
export const trustMutants: readonly Mutant[] = [
  {
    name: "pin-that-the-service-does-not-have",
    file: "packages/sdk/src/trust/vault-pins.ts",
    find: "if (shownPin(view)?.sealed === sealed) return true;",
    replace: "if (shownPin(view)?.sealed !== undefined) return true;",
    tests: [
      "packages/sdk/test/vaults/vault-histories.test.ts",
      "packages/sdk/test/vaults/vault-rotations.test.ts",
      "packages/sdk/test/trust/vault-pins.test.ts",
    ],
  },
  {
    name: "keyring-that-the-service-does-not-have",
    file: "packages/sdk/src/trust/keyring.ts",
    find: "as { sealed?: unknown }).sealed === sealed;",
    replace: "as { sealed?: unknown }).sealed !== undefined;",
    tests: [
      "packages/sdk/test/histories/histories.test.ts",
      "packages/sdk/test/trust/keyring-histories.test.ts",
      "packages/sdk/test/histories/machine-histories.test.ts",
    ],
  },
  {
    name: "offer-accepted-under-a-later-name",
    file: "packages/sdk/src/trust/offer.ts",
    find: "known_as: shown === name ? undefined : shown }",
    replace: "known_as: shown === name ? undefined : undefined }",
    tests: [
      "packages/sdk/test/histories/histories.test.ts",
      "packages/sdk/test/trust/keyring-histories.test.ts",
      "packages/sdk/test/histories/machine-histories.test.ts",
    ],
  },
  {
    name: "id-of-a-vault-taken-for-a-name",
    file: `${command}/service/pick.ts`,
    find: "isUuid(wanted)",
    replace: "isUuid(wanted) && things.some(({ id }) => id === wanted)",
    tests: [ids],
  },
  {
    name: "e-mail-of-a-member-taken-for-a-name",
    file: `${command}/commands/people/member.ts`,
    find: 'text.includes("@") ? email',
    replace: 'text.includes("@") && email === text ? email',
    tests: [ids],
  },
  {
    name: "export-does-not-miss-records",
    file: `${command}/commands/vaults/export.ts`,
    find: "came < counted ?",
    replace: "came < 0 * counted ?",
    tests: [exporting],
  },
  {
    name: "short-export-replaces-a-whole-one",
    file: `${command}/commands/vaults/export.ts`,
    find: 'missing !== "" && (await isThere(path))',
    replace: 'missing === " " && (await isThere(path))',
    tests: [exporting],
  },
  {
    name: "session-ended-by-a-proxys-word",
    file: `${command}/commands/account/logout.ts`,
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
    file: `${command}/files/held-signals.ts`,
    find: '["SIGINT", "SIGTERM", "SIGHUP"]',
    replace: '["SIGINT", "SIGTERM"]',
    tests: [exporting],
  },
  {
    name: "empty-lock-held-for-minutes",
    file: `${command}/files/file-lock.ts`,
    find: "Number.isNaN(owner) ? emptyMilliseconds",
    replace: "Number.isNaN(owner) ? 24 * emptyMilliseconds",
    tests: ["packages/cli/test/profile.test.ts"],
  },
  {
    name: "logout-removes-what-is-no-store",
    file: `${command}/profile/clear-stores.ts`,
    find: "if (await isReplicaOf(session, store.path))",
    replace: "if ((await isReplicaOf(session, store.path)) !== undefined)",
    tests: ["packages/cli/test/stores.test.ts"],
  },
  {
    name: "going-back-unsaid-with-a-given-fingerprint",
    file: `${command}/trust/compare-words.ts`,
    find: "if (given.length > 0 && warning !== undefined) printNotice(warning);",
    replace: "",
    tests: ["packages/cli/test/trust/vault-trust.test.ts"],
  },
];
