import type { Mutant } from "../mutant.ts";

const source = "services/sync/src";
const tests = "services/sync/test";
const authSm = "services/auth-sm";

/** Who may hold a connection, and what goes over it. */
export const syncMutants: readonly Mutant[] = [
  {
    name: "page-of-any-origin-connects",
    file: `${source}/opening/open.ts`,
    find: "if (origin !== undefined && !allowedOrigins.has(origin))",
    replace: 'if (origin === "null" && !allowedOrigins.has(origin))',
    tests: [`${tests}/opening.test.ts`],
  },
  {
    name: "session-that-has-ended-connects",
    file: `${source}/opening/judge.ts`,
    find: "if (!revocations.isRevoked(sessionId)) return",
    replace: 'if (!revocations.isRevoked(sessionId) || sessionId !== "") return',
    tests: [`${tests}/opening.test.ts`],
  },
  {
    name: "first-of-two-tokens-taken",
    file: `${source}/opening/read-offer.ts`,
    find: "if (shown.size > 1) throw",
    replace: "if (shown.size > 2) throw",
    tests: [`${tests}/opening.test.ts`],
  },
  {
    name: "token-answered-as-the-protocol",
    file: `${source}/opening/handshake.ts`,
    find: "handleProtocols: () => current.protocol ?? false",
    replace: "handleProtocols: (offered) => [...offered].at(-1) ?? false",
    tests: [`${tests}/opening.test.ts`],
  },
  {
    name: "message-one-byte-over-the-limit-taken",
    file: `${source}/opening/handshake.ts`,
    find: "const mostMessageBytes = 64 * 1024;",
    replace: "const mostMessageBytes = 64 * 1024 + 1;",
    tests: [`${tests}/limits.test.ts`],
  },
  {
    name: "push-to-who-may-not-see-the-vault-any-more",
    file: `${source}/pushes/fan-out.ts`,
    find: "isNew(user) && may?.has(user) !== false",
    replace: "isNew(user)",
    tests: [`${tests}/pushes.test.ts`],
  },
  {
    name: "something-goes-out-after-the-session-has-ended",
    file: `${source}/sessions/end-sessions.ts`,
    find: "      connection.mute();\n      if (news.reason",
    replace: "      if (news.reason",
    tests: [`${tests}/sessions.test.ts`],
  },
  {
    name: "connection-outlives-its-token",
    file: `${source}/connections/expiries.ts`,
    find: "if (expiresAt <= second) expire(connections);",
    replace: "if (expiresAt < second) expire(connections);",
    tests: [`${tests}/sessions.test.ts`],
  },
  {
    name: "older-push-takes-the-place-of-a-newer-one",
    file: `${source}/connections/waiting.ts`,
    find: "if (known.updatedAt > push.updatedAt) return;",
    replace: "",
    tests: [`${tests}/waiting-pushes.test.ts`],
  },
  {
    name: "told-folder-news-not-noted",
    file: `${authSm}/src/folders/note-told.ts`,
    find: "if (subject.subject !== folderChanged.subject) return;",
    replace: "if (subject.subject !== folderChanged.subject || payloads.length > 0) return;",
    tests: [`${authSm}/test/missed-folder-news.test.ts`],
  },
  {
    name: "folder-news-watermark-ahead-of-what-is-under-way",
    file: `${authSm}/src/store/folder-news.ts`,
    find: "pg_snapshot_xmin(pg_current_snapshot())",
    replace: "pg_snapshot_xmax(pg_current_snapshot())",
    tests: [`${authSm}/test/missed-folder-news.test.ts`],
  },
  {
    name: "swept-folder-news-unnoticed",
    file: `${authSm}/src/folders/list-news.ts`,
    find: "if (await isSwept(pool, from)) return startOver;",
    replace: 'if (since === "" && (await isSwept(pool, from))) return startOver;',
    tests: [`${authSm}/test/missed-folder-news.test.ts`],
  },
  {
    name: "folder-news-known-by-their-time",
    file: `${source}/pushes/fan-out.ts`,
    find: "const id = news.id ?? `${folder_id} ${change} ${updated_at}`;",
    replace: "const id = `${folder_id} ${change}`;",
    tests: [`${tests}/folder-news.test.ts`],
  },
  {
    name: "folder-news-pushed-with-every-question",
    file: `${source}/pushes/fan-out.ts`,
    find: "again && recentOfFolders.has(id, updated_at)",
    replace: 'again && updated_at === ""',
    tests: [`${tests}/folder-news.test.ts`],
  },
  {
    name: "device-answered-before-the-moment-of-folders-is-noted",
    file: `${source}/answers/send-answer.ts`,
    find: "Promise.all([deps.news.known(), deps.folderNews.known().catch(deps.folderNews.missed)])",
    replace: "deps.news.known()",
    tests: [`${tests}/folder-news.test.ts`],
  },
  {
    name: "query-in-the-span-of-an-upgrade",
    file: `${source}/opening/open.ts`,
    find: '"http.request.method": method, "http.route": route }',
    replace: '"http.request.method": method, "http.route": upgrade.incoming.url ?? "" }',
    tests: [`${tests}/trace.test.ts`],
  },
  {
    name: "refused-upgrade-without-its-status-in-the-span",
    file: `${source}/opening/open.ts`,
    find: "error instanceof ServiceError ? error.status : 500",
    replace: "500",
    tests: [`${tests}/trace.test.ts`],
  },
  {
    name: "parts-of-an-answer-not-counted-in-its-span",
    file: `${source}/answers/send-answer.ts`,
    find: "answer.parts += 1;",
    replace: "answer.parts = 1;",
    tests: [`${tests}/trace.test.ts`],
  },
  {
    name: "connections-of-a-push-not-counted-in-its-span",
    file: `${source}/pushes/fan-out.ts`,
    find: "count += 1;",
    replace: "count = 1;",
    tests: [`${tests}/trace.test.ts`],
  },
];
