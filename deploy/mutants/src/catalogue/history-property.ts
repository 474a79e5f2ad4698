import type { Mutant } from "../mutant.ts";

const client = "packages/sdk/src/histories";
const format = "packages/history/src";
const tests = ["deploy/local/test/history-property.test.ts"] as const;

/** What clients rest on when a service lies, and only a run of many steps shows. */
export const historyPropertyMutants: readonly Mutant[] = [
  {
    name: "lied-to-an-older-key-is-used",
    file: `${client}/trusted-key.ts`,
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
      "  const marks = [before?.pin, before?.expect].filter((mark) => mark !== undefined);\n",
    replace:
      '  const pinned = res === "org:" ? (before?.state ?? null) : null;\n' +
      "  const marks = [before?.pin, before?.expect].filter((mark) => mark !== undefined).slice(2);\n",
    tests,
  },
  {
    name: "lied-to-what-other-devices-know-is-not-kept",
    file: `${client}/merge-pins.ts`,
    find: "return pin.seq > known.seq ? { ...here, expect: pin } : here;",
    replace: "return pin.seq > known.seq && known.seq < 0 ? { ...here, expect: pin } : here;",
    tests,
  },
  {
    name: "lied-to-the-cut-does-not-count",
    file: `${format}/check-signers.ts`,
    find: "if (signer.seq > seq) throw removed(res, signer);",
    replace: "if (signer.seq < 0) throw removed(res, signer);",
    tests,
  },
  {
    name: "lied-to-the-services-list-is-sealed-to",
    file: `${client}/next-key.ts`,
    find: "mayHave ? confirmedKey(organization, state, who) : undefined;",
    replace:
      "mayHave\n      ? (listed as readonly { id: string; public_key?: string }[]).find((one) => one.id === id)?.public_key\n" +
      "      : undefined;",
    tests,
  },
  {
    name: "lied-to-whoever-lacks-a-key-gets-one",
    file: `${client}/seal-missing.ts`,
    find: "const key = ended.includes(who) ? undefined : confirmedKey(organization, state, who);\n    const holder = state.holders.find((one) => one.who === who);",
    replace:
      "const shown = listed as readonly { id: string; public_key?: string }[];\n" +
      "    const key = confirmedKey(organization, state, who) ?? shown.find((one) => one.id === id)?.public_key;\n" +
      '    const holder = state.holders.find((one) => one.who === who) ?? (ended.length < 0 ? undefined : { perm: "read" });',
    tests,
  },
];
