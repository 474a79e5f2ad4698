import type { Mutant } from "../../mutant.ts";

const source = "packages/sdk/src/histories";
const tests = [
  "packages/sdk/test/histories/machine-histories.test.ts",
  "packages/sdk/test/histories/histories.test.ts",
  "packages/sdk/test/trust/keyring-histories.test.ts",
] as const;
const returns = ["packages/sdk/test/histories/returned-members.test.ts"] as const;

/** The checks of machines and of their tokens before a key from the service is used. */
export const historyMachineMutants: readonly Mutant[] = [
  {
    name: "bootstrap-drops-the-token-before-a-join",
    file: "packages/sdk/src/machines/bootstrap.ts",
    find: "return views.length > 0 && views.every(",
    replace: "return views.every(",
    tests,
  },
  {
    name: "machine-joins-at-its-bootstrap-only",
    file: "packages/sdk/src/machines/machine-store.ts",
    find: "    await joinLate(views, configuration, histories, send);\n",
    replace: "",
    tests,
  },
  {
    name: "machine-named-in-another-organization",
    file: "packages/sdk/src/folders/grant-folder.ts",
    find: '`org:${state.org ?? ""}` !== organization) continue;',
    replace: '`org:${state.org ?? ""}` === "") continue;',
    tests: ["packages/sdk/test/histories/two-organizations.test.ts"],
  },
  {
    name: "machine-not-looked-for-in-the-newest-entries",
    file: "packages/sdk/src/folders/grant-folder.ts",
    find: "const holder = holderOf((await histories.newest(state.res)).state, `client:${id}`);",
    replace: "const holder = holderOf(state, `client:${id}`);",
    tests: returns,
  },
  {
    name: "machine-accepts-a-folder-from-a-stranger",
    file: "packages/sdk/src/trust/trust-storage.ts",
    find: 'return manager?.perm === "manage" && manager.key === key;',
    replace: "return manager?.key !== key;",
    tests,
  },
  {
    name: "machine-looks-at-new-folders-before-its-own",
    file: "packages/sdk/src/machines/machine-store.ts",
    find: "trustedIn(before, `folder:${id}`)?.accepted === true",
    replace: 'id !== "" || trustedIn(before, `folder:${id}`)?.accepted === true',
    tests,
  },
  {
    name: "machine-forgets-who-managed-its-folders",
    file: `${source}/walk.ts`,
    find: "...(before?.former_managers ?? []), ",
    replace: "",
    tests,
  },
  {
    name: "machine-takes-a-name-from-any-manager",
    file: "packages/sdk/src/trust/known-as.ts",
    find: "return given !== undefined && isManagerOf(given, other);",
    replace: "return given !== undefined && other.accepted;",
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
    name: "invitation-dropped-before-the-machine-joins",
    file: `${source}/dead-tags.ts`,
    find: "(joining && isSpent(token))",
    replace: "(joining && isSpent(token) && token.tag === null)",
    tests,
  },
  {
    name: "bootstrap-joins-a-folder-by-a-strangers-word",
    file: "packages/sdk/src/machines/bootstrap.ts",
    find: "if (!(await histories.newest(res)).accepted && !isReported) throw error;",
    replace: 'if (error.code !== "join_invalid") throw error;',
    tests,
  },
  {
    name: "folder-of-a-machine-checked-once",
    file: `${source}/histories.ts`,
    find: "if (known.accepted || !(await options.accepts({ state: known.state, given: known.given, made: undefined })))",
    replace: "if (known.accepted || known.pin.seq >= 0)",
    tests,
  },
];
