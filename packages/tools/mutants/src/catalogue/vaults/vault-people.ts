import type { Mutant } from "../../mutant.ts";

const source = "services/vaults/src";
const tests = "services/vaults/test";

/** Vaults' copy of memberships. */
export const vaultPeopleMutants: readonly Mutant[] = [
  {
    name: "vaults-left-with-the-organization-not-on-record",
    file: `${source}/people/apply.ts`,
    find: "left.map((member)",
    replace: "left.slice(0, 0).map((member)",
    tests: [`${tests}/members/member-removal.test.ts`],
  },
  {
    name: "removal-before-a-return-not-applied",
    file: `${source}/people/apply.ts`,
    find: "const gone = new Set(newer.filter(",
    replace: "const gone = new Set(newestOfEach(newer).filter(",
    tests: [`${tests}/members/memberships.test.ts`],
  },
  {
    name: "removal-before-a-return-not-seen-in-a-comparison",
    file: `${source}/people/reconcile.ts`,
    find: ", { listed: true }",
    replace: "",
    tests: [`${tests}/members/memberships.test.ts`],
  },
  {
    name: "return-to-a-restored-database-taken-for-a-removal",
    file: `${source}/people/reconcile.ts`,
    find: ", { forget: true }",
    replace: "",
    tests: [`${tests}/members/missing-memberships.test.ts`],
  },
  {
    name: "restored-memberships-not-believed",
    file: `${source}/people/reconcile.ts`,
    find: "if (page.as_of < greatest) {",
    replace: "if (page.as_of < greatest - 1_000_000) {",
    tests: [`${tests}/members/memberships.test.ts`],
  },
  {
    name: "contradicted-memberships-not-believed",
    file: `${source}/people/reconcile.ts`,
    find: "await forgetContradicted(deps.database.pool, understood, page.as_of);",
    replace: "await forgetContradicted(deps.database.pool, [], page.as_of);",
    tests: [`${tests}/members/memberships.test.ts`],
  },
  {
    name: "member-of-an-unknown-role-taken-for-missing",
    file: `${source}/people/reconcile.ts`,
    find: "for (const each of page.memberships) listed",
    replace: "for (const each of page.memberships.filter(isUnderstood)) listed",
    tests: [`${tests}/members/missing-memberships.test.ts`],
  },
  {
    name: "waiting-memberships-not-read",
    file: `${source}/people/lost-memberships.ts`,
    find: "text !== null && text !== last",
    replace: "text !== null && text.length < 2",
    tests: [`${tests}/members/lost-memberships.test.ts`],
  },
  {
    name: "missing-member-taken-for-removed",
    file: `${source}/store/membership-copies.ts`,
    find: "UPDATE memberships known SET status = 'suspended', version",
    replace: "UPDATE memberships known SET status = 'removed', version",
    tests: [`${tests}/members/missing-memberships.test.ts`],
  },
  {
    name: "empty-list-of-memberships-believed",
    file: `${source}/people/reconcile.ts`,
    find: "page.memberships.length === 0 &&",
    replace: "page.memberships.length < 0 &&",
    tests: [`${tests}/members/missing-memberships.test.ts`],
  },
  {
    name: "lost-membership-not-requested",
    file: `${source}/people/lost-memberships.ts`,
    find: "const listed = await requestNamed(deps, doubted);",
    replace: "const listed = doubted.length < 0 ? await requestNamed(deps, doubted) : null;",
    tests: [`${tests}/members/lost-memberships.test.ts`],
  },
  {
    name: "forged-loss-of-a-membership-not-healed",
    file: `${source}/people/lost-memberships.ts`,
    find: ".finally(() => deps.memberships.catchUp())",
    replace: ".finally(() => undefined)",
    tests: [`${tests}/members/lost-memberships.test.ts`],
  },
  {
    name: "lost-membership-of-a-version-that-cannot-be-believed",
    file: `${source}/store/membership-copies.ts`,
    find: "const mostAhead = 1_000_000;",
    replace: "const mostAhead = 2 ** 53;",
    tests: [`${tests}/members/lost-memberships.test.ts`],
  },
  {
    name: "unstorable-member-blocks-others",
    file: `${source}/people/batch-or-singly.ts`,
    find: "items.length === 1 ||",
    replace: "items.length > 0 ||",
    tests: [`${tests}/members/lost-memberships.test.ts`],
  },
  {
    name: "busy-vault-holds-up-other-refusals",
    file: `${source}/people/batch-or-singly.ts`,
    find: "isUnavailable(error) && !isHeldUp(error)",
    replace: "isUnavailable(error) || isHeldUp(error)",
    tests: [`${tests}/members/lost-memberships.test.ts`],
  },
  {
    name: "missing-member-makes-no-vault",
    file: `${source}/access/organization.ts`,
    find: "known !== null && !known.missing",
    replace: "known !== null",
    tests: [`${tests}/members/missing-memberships.test.ts`],
  },
];
