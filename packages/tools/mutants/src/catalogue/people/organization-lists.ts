import type { Mutant } from "../../mutant.ts";

const source = "services/auth-sm/src";
const tests = "services/auth-sm/test";

/** Limits of what an organization, a machine or a person has, and the lists of it. */
export const organizationListMutants: readonly Mutant[] = [
  {
    name: "token-names-thousands-of-folders",
    file: `${source}/tokens/bodies.ts`,
    find: "listOf(tokenFolder, mostFolders)",
    replace: "listOf(tokenFolder, 20 * mostFolders)",
    tests: [`${tests}/machines/token-limits.test.ts`],
  },
  {
    name: "token-with-thousands-of-entries",
    file: `${source}/tokens/bodies.ts`,
    find: ".length <= mostEntries",
    replace: ".length <= 20 * mostEntries",
    tests: [`${tests}/machines/token-limits.test.ts`],
  },
  {
    name: "audit-names-all-folders-of-a-token",
    file: `${source}/tokens/named-folders.ts`,
    find: "folderIds.slice(0, mostNamed)",
    replace: "folderIds.slice(0, 20 * mostNamed)",
    tests: [`${tests}/machines/token-limits.test.ts`],
  },
  {
    name: "key-sealed-to-a-public-key-of-any-size",
    file: "packages/service/src/sealed-keys.ts",
    find: "compactJwe(4)",
    replace: "compactJwe(64)",
    tests: [`${tests}/machines/clients.test.ts`],
  },
  {
    name: "key-sealed-with-another-of-any-size",
    file: "packages/service/src/sealed-keys.ts",
    find: "base64Text(4)",
    replace: "base64Text(64)",
    tests: [`${tests}/folders/folders.test.ts`],
  },
  {
    name: "count-one-over-its-limit",
    file: `${source}/counts/require-room.ts`,
    find: "now())) < most)",
    replace: "now())) <= most)",
    tests: [`${tests}/counts.test.ts`],
  },
  {
    name: "count-without-a-lock",
    file: `${source}/store/counts.ts`,
    find: "pg_advisory_xact_lock(hashtextextended(${name}, 0))::text",
    replace: "hashtextextended(${name}, 0)::text",
    tests: [`${tests}/counts.test.ts`],
  },
  {
    name: "count-of-tokens-that-cannot-be-used",
    file: `${source}/store/counts.ts`,
    find: "AND used_at IS NULL AND revoked_at IS NULL",
    replace: "",
    tests: [`${tests}/counts.test.ts`],
  },
  {
    name: "list-of-folders-in-one-part",
    file: `${source}/store/list-parts.ts`,
    find: "mostNamed = 200",
    replace: "mostNamed = 200_000",
    tests: [`${tests}/secrets/long-org-lists.test.ts`],
  },
  {
    name: "page-of-folders-follows-a-renamed-one",
    file: `${source}/store/list-parts.ts`,
    find: " AND starts_with(name_folded, ${start})",
    replace: "",
    tests: [`${tests}/secrets/long-org-lists.test.ts`],
  },
  {
    name: "cursor-of-a-folder-that-is-not-listed",
    file: `${source}/store/folders/folders.ts`,
    find: "${isAfterName(after, listed)}",
    replace: "${isAfterName(after, sql.fragment`FROM folders WHERE true`)}",
    tests: [`${tests}/secrets/long-org-lists.test.ts`],
  },
];
