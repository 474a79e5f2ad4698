import type { Mutant } from "../../mutant.ts";

const source = "services/auth-sm/src";
const tests = "services/auth-sm/test";

/** Members of an organization, and what they may grant. */
export const organizationMutants: readonly Mutant[] = [
  {
    name: "role-not-checked",
    file: `${source}/access/membership.ts`,
    find: "if (!allowed.includes(role))",
    replace: "if (allowed.length === 0)",
    tests: [`${tests}/machines/applications.test.ts`],
  },
  {
    name: "long-list-continued-in-another-organization",
    file: `${source}/lists/answer-list.ts`,
    find: "read({ ...caller, orgId }, {",
    replace: 'read({ ...caller, ...(orgId === "" ? { orgId } : {}) }, {',
    tests: [`${tests}/secrets/long-org-lists.test.ts`],
  },
  {
    name: "suspended-member-acts",
    file: "packages/service/src/membership.ts",
    find: 'if (present.status !== "active")',
    replace: 'if (present.status === "")',
    tests: [`${tests}/organizations/members.test.ts`, `${tests}/authorization.test.ts`],
  },
  {
    name: "admin-gives-more-than-it-has",
    file: `${source}/access/members.ts`,
    find: 'roles.filter((role) => role !== "owner")',
    replace: 'roles.filter((role) => role !== "member" || held === "admin")',
    tests: [`${tests}/organizations/members.test.ts`],
  },
  {
    name: "admin-invites-an-owner",
    file: `${source}/invites/create.ts`,
    find: "requireRankOver(role, { role: body.role })",
    replace: '{ role: body.role } as Parameters<typeof insertInvite>[1]["offer"]',
    tests: [`${tests}/organizations/invites.test.ts`],
  },
  {
    name: "last-owner-leaves",
    file: `${source}/members/last-owner.ts`,
    find: "if (await hasOtherOwner(tx, orgId, present.user_id)) return;",
    replace: "if ((await hasOtherOwner(tx, orgId, present.user_id)) || next === null) return;",
    tests: [`${tests}/organizations/owners.test.ts`],
  },
  {
    name: "last-owner-demoted",
    file: `${source}/members/last-owner.ts`,
    find: "(next !== null && isOwner(next))",
    replace: "next !== null",
    tests: [`${tests}/organizations/owners.test.ts`],
  },
  {
    name: "last-manager-of-a-folder-goes",
    file: `${source}/folders/last-manager.ts`,
    find: "if (await hasOtherManager(tx, folderId, userId)) return;",
    replace: 'if ((await hasOtherManager(tx, folderId, userId)) || userId !== "") return;',
    tests: [`${tests}/folders/folder-members.test.ts`],
  },
  {
    name: "removed-member-with-grants",
    file: `${source}/members/remove.ts`,
    find: "const folders = await deleteUserGrants(tx, orgId, userId);",
    replace: "const folders: readonly string[] = [];",
    tests: [`${tests}/folders/ended-access.test.ts`],
  },
  {
    name: "removed-member-with-valid-tokens",
    file: `${source}/members/revoke-offers.ts`,
    find: "  if (allowed.length === 0) await revokeIssuedTokens(tx, deps, by);\n",
    replace: "",
    tests: [`${tests}/machines/revoked-offers.test.ts`],
  },
  {
    name: "demoted-member-with-valid-invitations",
    file: `${source}/members/revoke-offers.ts`,
    find: "roles.filter((role) => !allowed.includes(role))",
    replace: "roles.filter((role) => kept.length === 0 && !allowed.includes(role))",
    tests: [`${tests}/machines/revoked-offers.test.ts`],
  },
  {
    name: "invitation-accepted-by-another-e-mail",
    file: `${source}/access/invite.ts`,
    find: "if (invite.email !== email) return",
    replace: 'if (invite.email === "") return',
    tests: [`${tests}/organizations/invites.test.ts`],
  },
  {
    name: "invitation-accepted-in-the-moment-it-expires",
    file: `${source}/store/organizations/invites.ts`,
    find: "WHERE token_hash = ${sql.binary(tokenHash)} AND expires_at > ${now",
    replace: "WHERE token_hash = ${sql.binary(tokenHash)} AND expires_at >= ${now",
    tests: [`${tests}/organizations/invites.test.ts`],
  },
  {
    name: "folder-given-to-who-is-no-member",
    file: `${source}/folders/share.ts`,
    find: 'if (member.status !== "active") {',
    replace: 'if (member.status !== "active" && member.role === "owner") {',
    tests: [`${tests}/folders/folder-members.test.ts`],
  },
  {
    name: "folder-shared-by-who-only-writes",
    file: `${source}/folders/share.ts`,
    find: 'needed: "manage", lock: "grants"',
    replace: 'needed: "write", lock: "grants"',
    tests: [`${tests}/folders/folder-members.test.ts`],
  },
  {
    name: "folder-of-another-organization-reached",
    file: `${source}/store/folders/folder-grants.ts`,
    find: "WHERE f.id = ${folderId} AND f.org_id = ${orgId}\n",
    replace: "WHERE f.id = ${folderId} AND ${orgId}::uuid IS NOT NULL\n",
    tests: [`${tests}/organizations/several-organizations.test.ts`, `${tests}/authorization.test.ts`],
  },
  {
    name: "grants-of-members-in-redis",
    file: `${source}/members/publish-lost.ts`,
    find: 'status !== "active" || role === "auditor"',
    replace: 'status !== "active" || role !== "owner"',
    tests: [`${tests}/organizations/memberships.test.ts`],
  },
];
