import type { Mutant } from "../../mutant.ts";

const source = "services/auth-sm/src";
const sdk = "packages/sdk/src";
const sdkTests = "packages/sdk/test";
const inTheCommand = "deploy/local/test/cli/expiry.test.ts";
const tests = ["services/auth-sm/test/secrets/secret-expiry.test.ts"] as const;

/** From when on a secret does not exist for machines, and what people see of it then. */
export const secretExpiryMutants: readonly Mutant[] = [
  {
    name: "expired-secret-read-by-a-machine",
    file: `${source}/store/secrets/secret-reads.ts`,
    find: "AND uid = requested.uid AND ${existing} LIMIT 1",
    replace: "AND uid = requested.uid LIMIT 1",
    tests,
  },
  {
    name: "expired-secret-found-by-a-notation",
    file: `${source}/store/secrets/secret-reads.ts`,
    find: "\n         AND ${existing}",
    replace: "",
    tests,
  },
  {
    name: "secret-read-at-the-moment-of-its-expiry",
    file: `${source}/store/secrets/secret-reads.ts`,
    find: "expires_at > requested.now",
    replace: "expires_at >= requested.now",
    tests,
  },
  {
    name: "expired-secret-listed-for-a-machine",
    file: `${source}/store/secrets/secret-lists.ts`,
    find: "WHERE folder_id = g.folder_id ${scope.existing}",
    replace: "WHERE folder_id = g.folder_id",
    tests,
  },
  {
    name: "expired-secret-in-the-rest-of-a-list",
    file: `${source}/store/secrets/secret-rests.ts`,
    find: "WHERE org_id = ${orgId} ${scope.existing}",
    replace: "WHERE org_id = ${orgId}",
    tests: ["services/auth-sm/test/secrets/long-lists.test.ts"],
  },
  {
    name: "expired-secret-found-by-a-search",
    file: `${source}/store/secrets/secret-search.ts`,
    find: "LIKE ${`%${literal}%`} ${existing}",
    replace: "LIKE ${`%${literal}%`}",
    tests,
  },
  {
    name: "expiry-hidden-by-a-304-from-a-poller",
    file: `${source}/store/secrets/secret-reads.ts`,
    find: "AND s.expires_at <= $2::timestamptz",
    replace: "AND s.expires_at <= $2::timestamptz - interval '1 day'",
    tests,
  },
  {
    name: "expiry-not-in-the-tag-of-a-machines-list",
    file: `${source}/store/secrets/secret-scopes.ts`,
    find: "WHERE client_id = ${clientId} AND expires_at <= ${now}",
    replace: "WHERE client_id = ${clientId} AND expires_at <= ${now} - interval '1 day'",
    tests,
  },
  {
    name: "expiry-hidden-by-a-304-from-a-person",
    file: `${source}/store/secrets/secret-scopes.ts`,
    find: "WHERE folder_id = ${folderId} AND expires_at <= ${now}",
    replace: "WHERE folder_id = ${folderId} AND expires_at <= ${now} - interval '1 day'",
    tests,
  },
  {
    name: "expiry-not-in-the-tag-of-a-page",
    file: `${source}/store/secrets/secret-batches.ts`,
    find: "FILTER (WHERE expires_at <= ${now})",
    replace: "FILTER (WHERE expires_at <= ${now} - interval '1 day')",
    tests,
  },
  {
    name: "expiry-not-in-the-tag-of-one-secret",
    file: `${source}/secrets/view.ts`,
    find: '${expired ? ".expired" : ""}',
    replace: '${expired ? "" : ""}',
    tests,
  },
  {
    name: "tag-of-an-expired-secret-not-taken-for-its-version",
    file: `${source}/secrets/view.ts`,
    find: "[false, true].map((expired)",
    replace: "[false].map((expired)",
    tests,
  },
  {
    name: "secret-written-that-has-expired-already",
    file: `${source}/secrets/expiry.ts`,
    find: "expiresAt > momentOf(now)",
    replace: "expiresAt >= momentOf(now)",
    tests,
  },
  {
    name: "expiry-removed-by-an-update-that-does-not-name-it",
    file: `${source}/store/secrets/secret-writes.ts`,
    find: "CASE WHEN held.changes_expiry THEN held.expires_at ELSE s.expires_at END",
    replace: "held.expires_at",
    tests,
  },
  {
    name: "expiry-not-removed-by-null",
    file: `${source}/store/secrets/secret-writes.ts`,
    find: "CASE WHEN held.changes_expiry THEN held.expires_at ELSE s.expires_at END",
    replace: "coalesce(held.expires_at, s.expires_at)",
    tests,
  },
  {
    name: "new-expiry-not-in-the-audit",
    file: `${source}/secrets/update.ts`,
    find: "...(body.expires_at !== undefined && { expires_at: body.expires_at }),",
    replace: "",
    tests,
  },
  {
    name: "expired-secret-used-from-memory",
    file: `${sdk}/secrets/secret-expiry.ts`,
    find: "Date.parse(expires_at) <= now",
    replace: "Date.parse(expires_at) <= now - 86_400_000",
    tests: [`${sdkTests}/secrets/secrets-client.test.ts`, `${sdkTests}/http/offline.test.ts`],
  },
  {
    name: "title-of-an-expired-secret-is-ambiguous",
    file: `${sdk}/secrets/secret-expiry.ts`,
    find: "viewOf(one).expired !== true",
    replace: "viewOf(one).uid !== ''",
    tests: [inTheCommand],
  },
  {
    name: "expired-value-given-to-a-program",
    file: `${sdk}/secrets/read-by-name.ts`,
    find: "if (view.expired === true)",
    replace: "if (view.expired === true && text === '')",
    tests: [inTheCommand],
  },
  {
    name: "expired-secret-written-without-a-renewal",
    file: `${sdk}/secrets/change-secret.ts`,
    find: "if (view.expired === true && options.expiresAt === undefined)",
    replace: "if (view.expired === true && options.expiresAt === '')",
    tests: [inTheCommand],
  },
  {
    name: "uid-of-an-expired-secret-not-passed-over",
    file: `${sdk}/secrets/change-secret.ts`,
    find: "if (!namesUid(error)) throw error;",
    replace: "if (!namesUid(error) || hidden >= 0) throw error;",
    tests: [`${sdkTests}/secrets/secrets-client.test.ts`],
  },
  {
    name: "expiry-that-was-not-stored-taken-for-stored",
    file: `${sdk}/secrets/change-secret.ts`,
    find: "if (expiresAt === undefined || isStored) return written;",
    replace: "if (expiresAt === undefined || isStored || stored === null) return written;",
    tests: [`${sdkTests}/secrets/secrets-client.test.ts`],
  },
  {
    name: "expired-secrets-of-a-folder-in-an-environment",
    file: "packages/cli/src/commands/secrets/env.ts",
    find: "secrets.filter(({ expired }) => !expired)",
    replace: "secrets.filter(({ expired, uid }) => !expired || uid !== '')",
    tests: [inTheCommand],
  },
];
