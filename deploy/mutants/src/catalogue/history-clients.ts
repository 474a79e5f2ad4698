import type { Mutant } from "../mutant.ts";

const source = "packages/sdk/src/histories";
const tests = ["packages/sdk/test/histories.test.ts"] as const;

/** What a client checks before it uses a key that the service hands out. */
export const historyClientMutants: readonly Mutant[] = [
  {
    name: "next-key-for-a-holder-whose-access-was-ended",
    file: `${source}/next-key.ts`,
    find: "  requireEnded(trusted, listed);\n",
    replace: "",
    tests,
  },
  {
    name: "ended-access-not-remembered",
    file: "packages/sdk/src/person-client.ts",
    find: "        await rememberEnded(trust.histories, `user:${userId}`, (res) => res === `folder:${id}`);\n",
    replace: "",
    tests,
  },
  {
    name: "join-believes-a-history-that-names-the-newcomer",
    file: `${source}/join-folder.ts`,
    find: "      const joinKey = await openInvitation(res, invitation, token.wrapKey);\n      if (holderOf(state, self.who)?.key === self.publicKey) return { pin: state.head, state, accepted: true, given };\n",
    replace:
      "      if (holderOf(state, self.who)?.key === self.publicKey) return { pin: state.head, state, accepted: true, given };\n      const joinKey = await openInvitation(res, invitation, token.wrapKey);\n",
    tests,
  },
  {
    name: "folder-key-used-without-its-check",
    file: `${source}/trusted-key.ts`,
    find: "if ((await keyCheck(key, state.res, ver)) === check) return key;",
    replace: 'if ((await keyCheck(key, state.res, ver)) !== "") return key;',
    tests,
  },
  {
    name: "older-version-of-a-key-used",
    file: `${source}/trusted-key.ts`,
    find: "if (ver !== shown.key_version)\n",
    replace: "if (ver < shown.key_version)\n",
    tests,
  },
  {
    name: "folder-used-that-was-not-accepted",
    file: `${source}/trusted-key.ts`,
    find: "  if (!accepted)\n",
    replace: '  if (!accepted && name === "")\n',
    tests,
  },
  {
    name: "shorter-history-taken",
    file: `${source}/walk.ts`,
    find: "if (newest === null || newest < least) throw rolledBack(res, least, newest);",
    replace: "if (newest === null) throw rolledBack(res, least, newest);",
    tests,
  },
  {
    name: "hidden-entries-not-missed",
    file: `${source}/walk.ts`,
    find: "if (state === null || (fresh.length === 0 && !first)) throw hidden(res, newest);",
    replace: "if (state === null || fresh.length === 0) break;",
    tests,
  },
  {
    name: "another-history-of-the-same-length-taken",
    file: `${source}/walk.ts`,
    find: "shown?.claims.seq !== head.seq || shown.hash !== head.hash",
    replace: "shown?.claims.seq !== head.seq",
    tests,
  },
  {
    name: "removed-manager-signs-on",
    file: `${source}/histories.ts`,
    find: "    await checkSigners(organization.state, state, pin, hashOf(state, hashes));\n",
    replace: "",
    tests,
  },
  {
    name: "key-sealed-to-a-holder-by-the-services-word",
    file: `${source}/confirmed-key.ts`,
    find: "return holderOf(organization, who)?.key === holder.key ? holder.key : undefined;",
    replace: "return holder.key;",
    tests: ["packages/sdk/test/confirmed-key.test.ts"],
  },
  {
    name: "machine-accepts-a-folder-from-a-stranger",
    file: `${source}/machine-trust.ts`,
    find: 'return manager?.perm === "manage" && manager.key === given.key;',
    replace: "return manager?.key !== given.key;",
    tests,
  },
  {
    name: "older-keyring-taken",
    file: `${source}/device-keyring.ts`,
    find: "if (shown.version < before.keyring) throw keyringRolledBack(shown.version, before.keyring);",
    replace: "",
    tests,
  },
  {
    name: "ambiguous-name-taken-for-the-first",
    file: "packages/sdk/src/find-secret.ts",
    find: "if (accepted.length > 1) throw",
    replace: "if (accepted.length > 2) throw",
    tests,
  },
  {
    name: "history-read-again-by-a-poller",
    file: `${source}/histories.ts`,
    find: "known.expect === undefined && known.pin.seq === historySeq",
    replace: "known.expect === undefined && known.pin.seq === -1",
    tests,
  },
  {
    name: "history-trusted-before-a-removal-is-trusted-after-it",
    file: "packages/sdk/src/histories/histories.ts",
    find: "if (organization == null || organization.head.hash === known.checked_by) return known;",
    replace: "if (organization == null || organization.head.seq >= 0) return known;",
    tests: ["packages/sdk/test/histories.test.ts"],
  },
  {
    name: "invitation-dropped-before-the-machine-joins",
    file: `${source}/dead-tags.ts`,
    find: "(joining && isSpent(token))",
    replace: "(joining && isSpent(token) && token.tag === null)",
    tests,
  },
  {
    name: "invitation-of-a-machine-that-is-gone-kept",
    file: `${source}/dead-tags.ts`,
    find: "tokens.some(isSpent) && (await hasJoining(send, state))",
    replace: "tokens.some(isSpent) || (await hasJoining(send, state))",
    tests,
  },
  {
    name: "bootstrap-joins-a-folder-by-a-strangers-word",
    file: "packages/sdk/src/bootstrap.ts",
    find: "if (!(await histories.newest(res)).accepted) throw error;",
    replace: 'if (error.code !== "join_invalid") throw error;',
    tests,
  },
  {
    name: "rotation-leaves-out-its-maker",
    file: `${source}/next-key.ts`,
    find: "const mayHave = who === self || !suspended.has(id);",
    replace: 'const mayHave = self !== "" && !suspended.has(id);',
    tests,
  },
  {
    name: "folder-given-to-a-machine-is-judged-once",
    file: `${source}/histories.ts`,
    find: "if (known.accepted || !(await options.accepts({ given: known.given, made: undefined }))) return known;",
    replace:
      "if (known.accepted || known.pin.seq >= 0 || !(await options.accepts({ given: known.given, made: undefined }))) return known;",
    tests,
  },
  {
    name: "keyring-brings-back-what-was-given-up",
    file: `${source}/person-trust.ts`,
    find: "      await keyring.renew();\n",
    replace: "",
    tests,
  },
];
