import type { Mutant } from "../../mutant.ts";

const source = "services/auth-sm/src";
const shared = "packages/service/src/histories";
const tests = "services/auth-sm/test";
const signed = [`${tests}/folders/signed-changes.test.ts`] as const;
const joins = [`${tests}/organizations/joins-and-removals.test.ts`] as const;

/** Signed histories: valid entries, and the changes that need one. */
export const signedChangeMutants: readonly Mutant[] = [
  {
    name: "history-entry-of-another-signer",
    file: `${shared}/next-state.ts`,
    find: "if (entry.claims.by !== by)",
    replace: 'if (entry.claims.by !== by && text === "")',
    tests: [`${tests}/folders/histories.test.ts`],
  },
  {
    name: "history-entry-not-compared-with-the-change",
    file: `${shared}/next-state.ts`,
    find: "if (differs !== null)",
    replace: 'if (differs !== null && text === "")',
    tests: [`${tests}/folders/histories.test.ts`],
  },
  {
    name: "history-change-without-an-entry",
    file: `${shared}/next-state.ts`,
    find: "if (before === null || expected === null || optional) return null;",
    replace: 'if (before === null || expected === null || optional || by !== "invite:") return null;',
    tests: signed,
  },
  {
    name: "history-name-not-compared",
    file: `${shared}/expected-change.ts`,
    find: "if (claims.name !== expected.name) return",
    replace: 'if (claims.name === "") return',
    tests: signed,
  },
  {
    name: "history-cut-with-a-large-number-is-an-error",
    file: `${source}/store/histories.ts`,
    find: "'0'])::float8 AS seq",
    replace: "'0'])::integer AS seq",
    tests: joins,
  },
  {
    name: "history-entry-of-a-signer-outside-the-organization",
    file: `${source}/histories/append-entry.ts`,
    find: "if (!(await hasHolder(tx, orgRes(orgId), signer)))",
    replace: "if (!(await hasHolder(tx, orgRes(orgId), signer)) && head.seq < 0)",
    tests: signed,
  },
  {
    name: "history-drops-a-holder-with-a-grant",
    file: `${shared}/expected-change.ts`,
    find: "mayDrop?.(one) !== true",
    replace: "mayDrop?.(one) === undefined",
    tests: joins,
  },
  {
    name: "rotation-seals-for-a-holder-outside-the-history",
    file: `${source}/folders/rotation-fits.ts`,
    find: "if (history !== null && hasKey && !isNamed)",
    replace: "if (history !== null && hasKey && !isNamed && holders.length === 0)",
    tests: signed,
  },
  {
    name: "history-of-an-invitation-shown-to-another",
    file: `${source}/histories/read-invited.ts`,
    find: "ownInvite(invite, email);",
    replace: "ownInvite(invite, invite.email);",
    tests: signed,
  },
  {
    name: "registration-joins-without-a-signature",
    file: `${source}/accounts/finish-registration.ts`,
    find: "if (invite !== null && !(await hasHistory(tx, orgRes(invite.org_id)))) {",
    replace: 'if (invite !== null && (!(await hasHistory(tx, orgRes(invite.org_id))) || userId !== "")) {',
    tests: signed,
  },
  {
    name: "only-manager-removed",
    file: `${source}/members/sole-manager.ts`,
    find: "if (parts.length === 0) return;",
    replace: "if (parts.length >= 0) return;",
    tests: joins,
  },
  {
    name: "hidden-vault-named-to-others",
    file: `${source}/members/sole-manager.ts`,
    find: "if (await isViewer(deps, id, viewerId)) names.push(name);",
    replace: 'if ((await isViewer(deps, id, viewerId)) || name !== "") names.push(name);',
    tests: joins,
  },
  {
    name: "keyring-overwritten",
    file: `${source}/store/accounts/keyrings.ts`,
    find: "AND version = ${version - 1}",
    replace: "AND version <= ${version}",
    tests: joins,
  },
  {
    name: "list-tag-without-the-history",
    file: `${source}/store/secrets/secret-batches.ts`,
    find: "hash_record_extended((f.id, f.history_seq), 0)",
    replace: "hash_record_extended((f.id, f.org_id), 0)",
    tests: joins,
  },
];
