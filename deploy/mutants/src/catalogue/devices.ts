import type { Mutant } from "../mutant.ts";

const source = "packages/sdk/src";
const tests = "packages/sdk/test";
const stored = [`${tests}/sync-storage.test.ts`] as const;
const told = [`${tests}/sync-told.test.ts`] as const;
const gone = [`${tests}/sync-gone.test.ts`] as const;
const person = [`${tests}/sync-person.test.ts`] as const;
const loss = [`${tests}/sync-loss.test.ts`] as const;
const renewal = [`${tests}/sync-renewal.test.ts`] as const;
const rotation = [`${tests}/sync-rotation.test.ts`] as const;

/** What a device that follows its person's vaults keeps, tells, and believes. */
export const deviceMutants: readonly Mutant[] = [
  {
    name: "device-that-never-asks-for-everything-again",
    file: `${source}/sync/sync-client.ts`,
    find: "    if (!wholeAsked && (age < 0 || age >= wholeMilliseconds)) replica.serverTime = undefined;\n",
    replace: "    if (!wholeAsked && Number.isNaN(age)) replica.serverTime = undefined;\n",
    tests: ["packages/sdk/test/sync-storage.test.ts"],
  },
  {
    name: "replica-written-again-after-it-was-cleared",
    file: `${source}/sync/replica-keeper.ts`,
    find: "closed = cleared = true;",
    replace: "closed = true;",
    tests: stored,
  },
  {
    name: "replica-written-before-it-was-told",
    file: `${source}/sync/replica-keeper.ts`,
    find: "if (telling || cleared || complete === undefined) return;",
    replace: "if (cleared || complete === undefined) return;",
    tests: told,
  },
  {
    name: "stopped-device-keeps-what-it-did-not-tell",
    file: `${source}/sync/sync-client.ts`,
    find: "if (opened.length > 0) options.onChange(opened);",
    replace: "if (opened.length > 0 && !stopped) options.onChange(opened);",
    tests: told,
  },
  {
    name: "listeners-error-taken-for-the-services",
    file: `${source}/sync/sync-client.ts`,
    find: "          fault = { error };\n",
    replace: "",
    tests: told,
  },
  {
    name: "pushes-taken-by-half",
    file: `${source}/sync/step-of-pushes.ts`,
    find: "steps.push(() => dropRecord(replica, id));",
    replace: "{\n      const dropped = dropRecord(replica, id);\n      steps.push(() => dropped);\n    }",
    tests: told,
  },
  {
    name: "what-must-be-gone-kept-when-a-write-failed",
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
    name: "what-must-be-gone-kept-while-everything-comes-anew",
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
    tests: [`${tests}/sync.test.ts`],
  },
  {
    name: "store-of-another-service-overwritten",
    file: `${source}/sync/saved-replica.ts`,
    find: "if (saved.url !== url) throw refusedStorage",
    replace: 'if (saved.url !== url) return undefined;\n  if (saved.url === "") throw refusedStorage',
    tests: stored,
  },
  {
    name: "store-kept-when-the-session-is-over",
    file: `${source}/sync/sync-client.ts`,
    find: "await (isCutOff(error) && fault === undefined ? keeper.clear() : keeper.close());",
    replace: "await (error === undefined ? keeper.clear() : keeper.close());",
    tests: stored,
  },
  {
    name: "sync-goes-on-as-somebody-else",
    file: `${source}/sync/as-person.ts`,
    find: "if (session.user.id !== userId)",
    replace: 'if (session.user.id === "" && userId !== "")',
    tests: person,
  },
  {
    name: "connection-opened-as-somebody-else",
    file: `${source}/sync/sync-client.ts`,
    find: "requirePerson(session, userId);",
    replace: "requirePerson(session, session.user.id);",
    tests: person,
  },
  {
    name: "pushes-fetched-as-somebody-else",
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
    file: `${source}/sync/sync-client.ts`,
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
    file: `${source}/sync/sync-client.ts`,
    find: "crowded ? crowdedDelay() : reconnectDelay(failures);",
    replace: "crowded && failures > 5 ? crowdedDelay() : reconnectDelay(failures);",
    tests: [`${tests}/sync-connection.test.ts`],
  },
  {
    name: "connections-without-a-second-between",
    file: `${source}/sync/sync-client.ts`,
    find: "await pause(shortestMilliseconds - (performance.now() - began));",
    replace: "await pause(0 * (performance.now() - began) * shortestMilliseconds);",
    tests: renewal,
  },
  {
    name: "stopped-device-waits-for-its-renewal",
    file: `${source}/sync/sync-client.ts`,
    find: "      if (isStopped()) return;\n      if (end.synced) failures = 0;",
    replace: "      if (end.synced) failures = 0;",
    tests: renewal,
  },
  {
    name: "answer-that-begins-anew-cut-by-a-renewal",
    file: `${source}/sync/link.ts`,
    find: "if (retiring && !resetting) connection.end(1000);",
    replace: "if (retiring) connection.end(1000);",
    tests: renewal,
  },
  {
    name: "record-told-though-its-vault-has-no-key",
    file: `${source}/sync/open-changes.ts`,
    find: "if (record === undefined) untold.set(id, { action, tried });",
    replace: "if (record === undefined) untold.delete(id);",
    tests: rotation,
  },
  {
    name: "untold-record-not-kept-for-the-next-run",
    file: `${source}/sync/saved-replica.ts`,
    find: "untold: [...replica.untold].map(",
    replace: "untold: [...replica.untold].slice(0, 0).map(",
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
    name: "records-under-a-new-key-not-asked-for",
    file: `${source}/sync/step-of-pushes.ts`,
    find: ' || view.type !== "personal";',
    replace: ";",
    tests: rotation,
  },
  {
    name: "accepted-vault-not-told",
    file: `${source}/sync/sync-client.ts`,
    find: "vaults.onUsable(() => link?.tellLate())",
    replace: "vaults.onUsable(() => undefined)",
    tests: rotation,
  },
];
