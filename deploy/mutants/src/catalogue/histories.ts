import type { Mutant } from "../mutant.ts";

const source = "packages/history/src";
const entries: Mutant["tests"] = ["packages/history/test/extend.test.ts"];
const signers: Mutant["tests"] = ["packages/history/test/check-signers.test.ts"];

/** What may stand in a history, and who may sign it. */
export const historyMutants: readonly Mutant[] = [
  {
    name: "history-entry-by-a-reader",
    file: `${source}/apply.ts`,
    find: 'if (holder?.perm !== "manage") throw refuse("its signer does not manage the resource");',
    replace: 'if (holder === undefined) throw refuse("its signer does not manage the resource");',
    tests: entries,
  },
  {
    name: "history-entry-with-any-signature",
    file: `${source}/extend.ts`,
    find: "if (await verifyEs256(key, signed, signature)) return;",
    replace: 'if (typeof (await verifyEs256(key, signed, signature)) === "boolean") return;',
    tests: entries,
  },
  {
    name: "history-signature-fails-before-it-is-awaited",
    file: `${source}/extend.ts`,
    find: "      verification.catch(() => undefined);\n",
    replace: "",
    tests: entries,
  },
  {
    name: "history-entry-after-another-one",
    file: `${source}/apply.ts`,
    find: "if (prev !== (before === null ? null : before.head.hash))",
    replace: "if (prev === undefined)",
    tests: entries,
  },
  {
    name: "history-version-skipped",
    file: `${source}/apply.ts`,
    find: "claims.ver !== (before.ver ?? 0) + 1",
    replace: "claims.ver <= (before.ver ?? 0)",
    tests: entries,
  },
  {
    name: "history-removal-without-a-rotation",
    file: `${source}/apply.ts`,
    find: 'kind !== "org" && claims.ver === undefined)\n    throw refuse("it drops',
    replace: 'kind === "org" && claims.ver !== undefined)\n    throw refuse("it drops',
    tests: entries,
  },
  {
    name: "history-without-a-manager",
    file: `${source}/apply.ts`,
    find: '!holders.some(({ perm }) => perm === "manage")',
    replace: "holders.length === 0",
    tests: entries,
  },
  {
    name: "history-join-with-more-permission",
    file: `${source}/apply.ts`,
    find: "    joiner.perm === invitation.perm &&\n",
    replace: "",
    tests: entries,
  },
  {
    name: "history-join-twice",
    file: `${source}/apply.ts`,
    find: 'if (by.startsWith("invite:")) open.delete(',
    replace: 'if (by.startsWith("user:")) open.delete(',
    tests: entries,
  },
  {
    name: "history-invitation-outlives-its-maker",
    file: `${source}/apply.ts`,
    find: ".filter(({ by }) => isManager(after, by))",
    replace: ".filter(({ by }) => by !== undefined)",
    tests: entries,
  },
  {
    name: "history-claims-counted-before-their-form",
    file: `${source}/read-entry.ts`,
    find: "  const problem = claimsProblem(claims);\n",
    replace: "  requireOnce(json, claims);\n  const problem = claimsProblem(claims);\n",
    tests: ["packages/history/test/extend.test.ts"],
  },
  {
    name: "history-claim-twice",
    file: `${source}/read-entry.ts`,
    find: "colons !== countMembers(claims)",
    replace: "colons < countMembers(claims)",
    tests: entries,
  },
  {
    name: "history-join-key-that-is-no-pair",
    file: `${source}/invitations.ts`,
    find: "if (publicKey !== joinKey)",
    replace: 'if (publicKey === "")',
    tests: ["packages/history/test/invitations.test.ts"],
  },
  {
    name: "history-counts-on-a-former-member-beyond-the-cut",
    file: `${source}/check-signers.ts`,
    find: "if (signer.seq > seq) throw removed(res, signer);",
    replace: "if (signer.seq > seq && pin === null) throw removed(res, signer);",
    tests: signers,
  },
  {
    name: "history-counts-on-a-former-member-without-a-pin",
    file: `${source}/check-signers.ts`,
    find: "if (pin === null || signer.seq > pin.seq)",
    replace: "if (pin !== null && signer.seq > pin.seq)",
    tests: signers,
  },
  {
    name: "history-forked-before-the-cut",
    file: `${source}/check-signers.ts`,
    find: "if ((await hashAt(seq)) !== hash)",
    replace: "if ((await hashAt(seq)) === undefined)",
    tests: signers,
  },
  {
    name: "history-counts-on-another-key-of-a-member",
    file: `${source}/check-signers.ts`,
    find: "if (holderOf(organization, signer.who)?.key === signer.key) continue;",
    replace: "if (holderOf(organization, signer.who) !== undefined) continue;",
    tests: signers,
  },
];
