import type { Mutant } from "../../mutant.ts";

const client = "packages/sdk/src/histories";
const format = "packages/history/src";
const tests = ["deploy/local/test/history-property.test.ts"] as const;

/** Client checks against a lying service that only a run of many steps shows. */
export const historyPropertyMutants: readonly Mutant[] = [
  {
    name: "lied-to-an-older-key-is-used",
    file: "packages/sdk/src/trust/trusted-key.ts",
    find: "  if (ver !== shown.key_version)\n    throw",
    replace:
      "  const older = shown.key_version < ver ? await shown.open() : null;\n" +
      "  if (older !== null) return older;\n  if (ver !== shown.key_version)\n    throw",
    tests,
  },
  {
    name: "lied-to-pins-are-not-looked-at",
    file: `${client}/walk.ts`,
    find:
      "  const pinned = before?.state ?? null;\n" +
      "  const pins = before === undefined ? [] : [before.pin, ...(before.expect ?? [])];\n",
    replace:
      '  const pinned = res === "org:" ? (before?.state ?? null) : null;\n' +
      "  const pins = (before === undefined ? [] : [before.pin, ...(before.expect ?? [])]).slice(2);\n",
    tests,
  },
  {
    name: "lied-to-shared-pins-not-stored",
    file: "packages/sdk/src/trust/trust-storage.ts",
    find: "return isKnown || pin.seq < own.seq ? trusted",
    replace: "return isKnown || own.seq >= 0 ? trusted",
    tests,
  },
  {
    name: "lied-to-the-cut-does-not-count",
    file: `${format}/check-signers.ts`,
    find: "if (signer.seq > seq && !cameBack) throw removed(res, signer);",
    replace: "if (signer.seq < 0) throw removed(res, signer);",
    tests,
  },
  {
    name: "lied-to-the-services-list-is-sealed-to",
    file: `${client}/next-key.ts`,
    find: "mayHave ? await confirmedKey(organization, trusted, who) : undefined;",
    replace:
      "mayHave\n      ? ((listed as readonly { id: string; public_key?: string }[]).find((one) => one.id === id)?.public_key as\n" +
      "          Awaited<ReturnType<typeof confirmedKey>>)\n      : undefined;",
    tests,
  },
  {
    name: "lied-to-every-member-without-a-key-gets-one",
    file: `${client}/seal-missing.ts`,
    find: "const key = await confirmedKey(organization, trusted, who);\n    const holder = state.holders.find((one) => one.who === who);",
    replace:
      "const shown = listed as readonly { id: string; public_key?: string }[];\n" +
      "    const key =\n      (await confirmedKey(organization, trusted, who)) ??\n" +
      "      (shown.find((one) => one.id === id)?.public_key as Awaited<ReturnType<typeof confirmedKey>>);\n" +
      '    const holder = state.holders.find((one) => one.who === who) ?? ({ perm: "read" } as const);',
    tests,
  },
];
