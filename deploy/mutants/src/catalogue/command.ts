import type { Mutant } from "../mutant.ts";

const importing = "packages/import/src";
const lost = "packages/import/test/lost-fields.test.ts";
const keepass = "packages/import/test/keepass.test.ts";
const broken = "packages/import/test/broken.test.ts";
const tables = "packages/import/test/tables.test.ts";
const command = "packages/cli/src";
const edges = "deploy/local/test/cli-edges.test.ts";
const hostile = "packages/cli/test/hostile-text.test.ts";
const folderVariables = "packages/cli/test/folder-variables.test.ts";

/** What the command brings in, gives out and keeps on a person's machine. */
export const commandMutants: readonly Mutant[] = [
  {
    name: "export-does-not-look-at-what-it-lost",
    file: `${importing}/lost-fields.ts`,
    find: "before.get(field) !== after.get(field)",
    replace: 'before.get(field) !== after.get(field) && field === ""',
    tests: [lost],
  },
  {
    name: "field-named-type-taken-for-the-type",
    file: `${importing}/extra-fields.ts`,
    find: 'type !== readAs || payload["type"] !== undefined',
    replace: "type !== readAs",
    tests: [lost],
  },
  {
    name: "custom-field-taken-for-the-type-marker",
    file: `${importing}/extra-fields.ts`,
    find: " && label !== typeMarker",
    replace: "",
    tests: [lost],
  },
  {
    name: "keepass-folder-of-any-depth-written",
    file: `${importing}/keepass/write-xml.ts`,
    find: "fitsXml(folder) && parts.length <= deepest",
    replace: "fitsXml(folder)",
    tests: [lost],
  },
  {
    name: "keepass-gets-any-text-for-a-time",
    file: `${importing}/keepass/write-entry.ts`,
    find: ".filter(({ time }) => isTime(time));",
    replace: '.filter(({ time }) => isTime(time) || time !== "");',
    tests: [lost],
  },
  {
    name: "record-that-cannot-come-back-fails-the-export",
    file: `${importing}/lost-fields.ts`,
    find: "  } catch {\n    return undefined;",
    replace: "  } catch (error) {\n    if (error !== undefined) throw error;\n    return undefined;",
    tests: [lost],
  },
  {
    name: "text-followed-as-a-reference-in-a-file-of-ours",
    file: `${importing}/keepass/generator.ts`,
    find: 'textOf(meta, "Generator") === generator',
    replace: 'textOf(meta, "Generator") === `${generator} 0`',
    tests: [lost],
  },
  {
    name: "file-of-another-program-taken-for-ours",
    file: `${importing}/keepass/generator.ts`,
    find: " && elementsOf(meta).length === 2",
    replace: "",
    tests: [lost],
  },
  {
    name: "reference-that-keepass-follows-not-told",
    file: `${importing}/keepass/write-xml.ts`,
    find: "!holdsReference(value)) return undefined;",
    replace: "holdsReference(value)) return undefined;",
    tests: [lost],
  },
  {
    name: "text-that-is-too-large-is-no-text",
    file: `${importing}/guess-format.ts`,
    find: 'error.code === "too_large"',
    replace: 'error.code === "refused"',
    tests: [broken],
  },
  {
    name: "passkey-under-older-names-dropped",
    file: `${importing}/keepass/read-passkey.ts`,
    find: "[...olderPasskeyKeys, ...passkeyKeys]",
    replace: "passkeyKeys",
    tests: [keepass],
  },
  {
    name: "passkey-without-an-id-dropped",
    file: `${importing}/keepass/read-passkey.ts`,
    find: 'if (!draft.holdsMoreThan(["name"]))',
    replace: 'if (!draft.has("credential_id"))',
    tests: [keepass, lost],
  },
  {
    name: "second-column-of-one-name-dropped",
    file: `${importing}/csv/read-csv.ts`,
    find: "isKnown(name) && columns.indexOf(name) !== index",
    replace: "isKnown(name) && columns.indexOf(name) > index",
    tests: [tables],
  },
  {
    name: "file-nested-too-deeply-is-a-fault-of-ours",
    file: `${importing}/stack-ended.ts`,
    find: "error instanceof RangeError",
    replace: "error instanceof TypeError",
    tests: [broken],
  },
  {
    name: "pipe-read-without-end",
    file: `${command}/transfer/read-import-file.ts`,
    find: "if (size > largest)",
    replace: "if (size > largest * 1024)",
    tests: ["packages/cli/test/read-import-file.test.ts"],
  },
  {
    name: "logged-out-profile-is-no-ended-session",
    file: `${command}/profile.ts`,
    find: 'throw new CofferError("invalid_token", notLoggedIn().message)',
    replace: 'throw new CofferError("not_found", notLoggedIn().message)',
    tests: ["packages/cli/test/profile.test.ts"],
  },
  {
    name: "org-does-not-narrow-vaults",
    file: `${command}/pick-vault.ts`,
    find: "organization === undefined || vault.org_id === organization",
    replace: "organization !== null || vault.org_id === organization",
    tests: [edges],
  },
  {
    name: "altered-record-taken-for-a-deleted-one",
    file: `${command}/transfer/send-import.ts`,
    find: "!(present.has(id) || leftOut.has(id))",
    replace: "!present.has(id)",
    tests: [edges],
  },
  {
    name: "store-that-cannot-be-written-is-no-failure",
    file: `${command}/commands/sync.ts`,
    find: "store?.failed() === true",
    replace: "store?.failed() === undefined",
    tests: [edges],
  },
  {
    name: "cut-off-sync-ends-as-if-done",
    file: `${command}/commands/sync.ts`,
    find: "asked !== undefined && options.watch !== true",
    replace: "asked !== undefined && options.watch === true",
    tests: [edges],
  },
  {
    name: "export-counts-what-was-there-before",
    file: `${command}/commands/export.ts`,
    find: "const unreadable = unopened.size;",
    replace: "const unreadable = Math.max(0, vault.record_count - records.length - 0 * unopened.size);",
    tests: [edges],
  },
  {
    name: "vault-name-steers-the-terminal",
    file: `${command}/commands/import.ts`,
    find: "print(visible(sentence))",
    replace: 'print(visible === undefined ? "" : sentence)',
    tests: [edges],
  },
  {
    name: "format-characters-reach-the-terminal",
    file: `${command}/output.ts`,
    find: "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]",
    replace: "[\\p{Cc}]",
    tests: [hostile],
  },
  {
    name: "format-characters-stand-in-json",
    file: `${command}/output.ts`,
    find: "[\\u007f-\\u009f\\p{Cf}\\p{Zl}\\p{Zp}]",
    replace: "[\\u007f-\\u009f]",
    tests: [hostile],
  },
  {
    name: "configuration-taken-for-a-path-is-quoted",
    file: "packages/sdk/src/node/configuration-file.ts",
    find: '"configuration",\n    absent',
    replace: '"configuration",\n    absent ? error.message : absent',
    tests: ["packages/cli/test/nothing-secret.test.ts"],
  },
  {
    name: "doctor-quotes-what-it-takes-for-a-path",
    file: `${command}/doctor/private-file.ts`,
    find: "`its file cannot be looked at (${code})`",
    replace: "`${path} cannot be looked at (${code})`",
    tests: ["packages/cli/test/nothing-secret.test.ts"],
  },
  {
    name: "folder-sets-what-the-loader-obeys",
    file: `${command}/folder-variables.ts`,
    find: "isLoaderVariable(name) &&",
    replace: 'isLoaderVariable(name) && name === "" &&',
    tests: [folderVariables],
  },
  {
    name: "folder-variable-is-looked-at-without-its-prefix",
    file: `${command}/folder-variables.ts`,
    find: "if (isLoaderVariable(name)",
    replace: "if (isLoaderVariable(name.slice(prefix.length))",
    tests: [folderVariables],
  },
  {
    name: "lower-case-loader-variable-is-accepted",
    file: `${command}/loader-variables.ts`,
    find: "name.toUpperCase()",
    replace: "name",
    tests: [folderVariables],
  },
  {
    name: "travel-on-leaves-the-stores",
    file: `${command}/commands/travel.ts`,
    find: "  await hideFromStores(",
    replace: '  if (person.url === "") await hideFromStores(',
    tests: ["packages/cli/test/travel.test.ts"],
  },
  {
    name: "marks-of-hidden-vaults-stay-in-a-store",
    file: "packages/sdk/src/vaults/known-vault-keys.ts",
    find: "if (!names.includes(name)) marks.delete(name);",
    replace: 'if (name === "") marks.delete(name);',
    tests: ["packages/cli/test/travel.test.ts"],
  },
  {
    name: "marks-of-hidden-vaults-stay-in-the-profile",
    file: `${command}/known-vault-keys.ts`,
    find: "names.includes(name))",
    replace: 'name !== "")',
    tests: ["packages/cli/test/travel.test.ts"],
  },
];
