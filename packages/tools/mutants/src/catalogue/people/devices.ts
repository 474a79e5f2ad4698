import type { Mutant } from "../../mutant.ts";

const source = "packages/sdk/src";
const tests = "packages/sdk/test";
const stored = [`${tests}/sync/sync-storage.test.ts`] as const;
const syncEvents = [`${tests}/sync/sync-told.test.ts`] as const;
const gone = [`${tests}/sync/sync-gone.test.ts`] as const;
const person = [`${tests}/sync/sync-person.test.ts`] as const;
const loss = [`${tests}/sync/sync-loss.test.ts`] as const;
const renewal = [`${tests}/sync/sync-renewal.test.ts`] as const;
const rotation = [`${tests}/sync/sync-rotation.test.ts`] as const;

/** The replica of a device: its storage, its events, its checks. */
export const deviceMutants: readonly Mutant[] = [
  {
    name: "device-without-a-second-full-sync",
    file: `${source}/sync/follow.ts`,
    find: "  if (!following.fullRequested && (age < 0 || age >= wholeMilliseconds)) replica.serverTime = undefined;\n",
    replace: "  if (!following.fullRequested && Number.isNaN(age)) replica.serverTime = undefined;\n",
    tests: ["packages/sdk/test/sync/sync-storage.test.ts"],
  },
  {
    name: "replica-written-again-after-it-was-cleared",
    file: `${source}/sync/replica-keeper.ts`,
    find: "closed = cleared = true;",
    replace: "closed = true;",
    tests: stored,
  },
  {
    name: "replica-written-before-its-events",
    file: `${source}/sync/replica-keeper.ts`,
    find: "if (reporting || cleared || complete === undefined) return;",
    replace: "if (cleared || complete === undefined) return;",
    tests: syncEvents,
  },
  {
    name: "stopped-device-stores-unsent-events",
    file: `${source}/sync/follow.ts`,
    find: "if (opened.length > 0) options.onChange(opened);",
    replace: "if (opened.length > 0 && !following.stopped) options.onChange(opened);",
    tests: syncEvents,
  },
  {
    name: "listeners-error-taken-for-the-services",
    file: `${source}/sync/follow.ts`,
    find: "      following.fault = { error };\n",
    replace: "",
    tests: syncEvents,
  },
  {
    name: "pushes-taken-by-half",
    file: `${source}/sync/step-of-pushes.ts`,
    find: "steps.push(() => dropRecord(replica, id));",
    replace: "{\n      const dropped = dropRecord(replica, id);\n      steps.push(() => dropped);\n    }",
    tests: syncEvents,
  },
  {
    name: "removal-lost-when-a-write-failed",
    file: `${source}/sync/replica-keeper.ts`,
    find: "if (stale) await to.clear();",
    replace: "if (cleared) await to.clear();",
    tests: gone,
  },
  {
    name: "failed-write-not-made-up-for",
    file: `${source}/sync/replica-keeper.ts`,
    find: "      unwritten = true;\n      stale ||= leaving;",
    replace: "      stale ||= leaving;",
    tests: gone,
  },
  {
    name: "removal-lost-during-a-full-sync",
    file: `${source}/sync/replica-keeper.ts`,
    find: "const leaving = stale;",
    replace: "if (replica.before !== undefined) return;\n    const leaving = stale;",
    tests: gone,
  },
  {
    name: "restored-record-replaced-without-a-word",
    file: `${source}/sync/replica.ts`,
    find: "return record.updated_at === earlier.updated_at ?",
    replace: "return !isNewer(record.updated_at, earlier.updated_at) ?",
    tests: [`${tests}/sync/sync.test.ts`],
  },
  {
    name: "store-of-another-service-overwritten",
    file: `${source}/sync/saved-replica.ts`,
    find: "if (saved.url !== url) throw refusedStorage",
    replace: 'if (saved.url !== url) return undefined;\n  if (saved.url === "") throw refusedStorage',
    tests: stored,
  },
  {
    name: "store-left-after-the-session",
    file: `${source}/sync/follow.ts`,
    find: "await (isCutOff(error) && following.fault === undefined ? keeper.clear() : keeper.close());",
    replace: "await (error === undefined ? keeper.clear() : keeper.close());",
    tests: stored,
  },
  {
    name: "sync-continues-as-another-person",
    file: `${source}/sync/as-person.ts`,
    find: "if (session.user.id !== userId)",
    replace: 'if (session.user.id === "" && userId !== "")',
    tests: person,
  },
  {
    name: "connection-opened-as-another-person",
    file: `${source}/sync/follow.ts`,
    find: "requirePerson(session, userId);",
    replace: "requirePerson(session, session.user.id);",
    tests: person,
  },
  {
    name: "pushes-fetched-as-another-person",
    file: `${source}/sync/sync-client.ts`,
    find: "asPerson(as.vaults, userId, () => as.session());",
    replace: "asPerson(as.vaults, userId, () => Promise.resolve(person));",
    tests: person,
  },
  {
    name: "answer-to-another-login-believed",
    file: `${source}/sync/as-person.ts`,
    find: "if ((await current()) !== before)",
    replace: 'if ((await current()) === "" && before !== "")',
    tests: person,
  },
  {
    name: "proxys-refusal-ends-the-session",
    file: `${source}/sync/follow.ts`,
    find: "error instanceof CofferError && !error.foreign && (error.code",
    replace: "error instanceof CofferError && (error.code",
    tests: stored,
  },
  {
    name: "proxys-404-takes-records-away",
    file: `${source}/sync/step-of-answer.ts`,
    find: "if (!(error instanceof CofferError) || error.foreign) return false;",
    replace: "if (!(error instanceof CofferError)) return false;",
    tests: loss,
  },
  {
    name: "lost-records-stay-lost",
    file: `${source}/sync/short-vaults.ts`,
    find: "const again = short.length > 0;",
    replace: "const again = short.length > toCount.size;",
    tests: loss,
  },
  {
    name: "vault-that-came-back-collapsed-into-an-update",
    file: `${source}/sync/step-of-pushes.ts`,
    find: 'return cameIn && later.action === "vault_updated" ?',
    replace: 'return cameIn && later.action === "vault_created" ?',
    tests: loss,
  },
  {
    name: "device-of-too-many-comes-back-at-once",
    file: `${source}/sync/follow.ts`,
    find: "crowded ? crowdedDelay() : reconnectDelay(failures);",
    replace: "crowded && failures > 5 ? crowdedDelay() : reconnectDelay(failures);",
    tests: [`${tests}/sync/sync-connection.test.ts`],
  },
  {
    name: "connections-without-a-second-between",
    file: `${source}/sync/follow.ts`,
    find: "await pause(following, shortestMilliseconds - (performance.now() - began));",
    replace: "await pause(following, 0 * (performance.now() - began) * shortestMilliseconds);",
    tests: renewal,
  },
  {
    name: "stopped-device-waits-for-its-renewal",
    file: `${source}/sync/follow.ts`,
    find: "    if (isStopped(following)) return;\n    if (end.synced) failures = 0;",
    replace: "    if (end.synced) failures = 0;",
    tests: renewal,
  },
  {
    name: "answer-that-begins-anew-cut-by-a-renewal",
    file: `${source}/sync/link-messages.ts`,
    find: "if (link.retiring && !link.resetting) connection.end(1000);",
    replace: "if (link.retiring) connection.end(1000);",
    tests: renewal,
  },
  {
    name: "record-sent-without-a-vault-key",
    file: `${source}/sync/open-changes.ts`,
    find: "if (record === undefined) unreported.set(id, { action, tried });",
    replace: "if (record === undefined) unreported.delete(id);",
    tests: rotation,
  },
  {
    name: "unsent-record-not-stored-for-the-next-run",
    file: `${source}/sync/saved-replica.ts`,
    find: "untold: [...replica.unreported].map(",
    replace: "untold: [...replica.unreported].slice(0, 0).map(",
    tests: rotation,
  },
  {
    name: "late-record-not-tried-with-the-new-key",
    file: `${source}/sync/open-changes.ts`,
    find: "if (version !== null && version !== tried)",
    replace: "if (version !== null && tried === null)",
    tests: rotation,
  },
  {
    name: "records-under-a-new-key-not-requested",
    file: `${source}/sync/step-of-pushes.ts`,
    find: ' || view.type !== "personal";',
    replace: ";",
    tests: rotation,
  },
  {
    name: "accepted-vault-without-an-event",
    file: `${source}/sync/follow.ts`,
    find: "    if (!following.stopped) following.link?.reportLate();\n",
    replace: "",
    tests: rotation,
  },
];
