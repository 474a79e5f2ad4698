import type { Mutant } from "../../mutant.ts";

const source = "packages/sdk/src/histories";
const removedNames = ["packages/sdk/test/trust/removed-names.test.ts"] as const;

/** Whose name a removed folder or vault had, and what takes it. */
export const removedNameMutants: readonly Mutant[] = [
  {
    name: "removed-folder-takes-its-name-back",
    file: "packages/sdk/src/trust/removed.ts",
    find: "accepted: !isRemoved, removed: isRemoved || undefined",
    replace: "accepted: true, removed: isRemoved || undefined",
    tests: removedNames,
  },
  {
    name: "refused-removal-is-remembered",
    file: "packages/sdk/src/trust/removed.ts",
    find: "if (isRefusal(error)) await histories.changeRecord((record) => takeBack(record, earlier));",
    replace: "",
    tests: removedNames,
  },
  {
    name: "unanswered-removal-is-forgotten",
    file: "packages/sdk/src/trust/removed.ts",
    find: "status >= 400 && status < 500 && status !== 404",
    replace: "status >= 400",
    tests: removedNames,
  },
  {
    name: "name-goes-to-the-one-that-is-shown",
    file: "packages/sdk/src/trust/known-as.ts",
    find: "return org === undefined || other.state?.org === org;",
    replace: "return other.state === null;",
    tests: removedNames,
  },
  {
    name: "accepted-folder-does-not-take-its-name",
    file: "packages/sdk/src/trust/offer.ts",
    find: "  await takeName(trust.histories, res);\n",
    replace: "",
    tests: removedNames,
  },
  {
    name: "name-stays-with-the-earlier-one-too",
    file: "packages/sdk/src/trust/known-as.ts",
    find: "took: there.took?.filter((one) => one !== res)",
    replace: "took: there.took",
    tests: removedNames,
  },
  {
    name: "machine-gives-a-taken-name-back",
    file: "packages/sdk/src/trust/known-as.ts",
    find: "!givesName(given, other) || other.took?.includes(res) === true",
    replace: "!givesName(given, other)",
    tests: removedNames,
  },
  {
    name: "removal-stays-on-one-device",
    file: "packages/sdk/src/trust/merge-pins.ts",
    find: "(here.accepted && !listed.includes(res))",
    replace: "here.accepted",
    tests: removedNames,
  },
  {
    name: "removed-folder-of-ones-own-is-accepted-by-a-new-device",
    file: `${source}/histories.ts`,
    find: "const made = before === undefined ? walked.made : undefined;",
    replace: "const { made } = walked;",
    tests: removedNames,
  },
  {
    name: "keyring-trust-accepts-what-was-removed",
    file: "packages/sdk/src/trust/trust-keyring.ts",
    find: "accepted: removed !== true, removed,",
    replace: "accepted: true,",
    tests: removedNames,
  },
];
