import { exportFormats, importFormats } from "@coffer/import/formats";
import { type CommandRow, jsonOption, personOptions } from "../command-row.ts";

const recoveryKeyOption = {
  flags: "--recovery-key-file <file>",
  description: "read the recovery key from a file's first line (else prompted for)",
};

export const transferRows: readonly CommandRow[] = [
  {
    name: "import",
    args: "<file>",
    summary: "bring in what another password manager exported (- reads stdin); twice is the same as once",
    examples: [
      "coffer import --dry-run bitwarden_export.json",
      "coffer import --vault Private bitwarden_export.json",
      "coffer import --vault Team --format keepass-xml database.xml",
      "coffer import --vault Private - < passwords.csv",
      'coffer import --vault Private --map "Salasana=password" --map "Nr.=custom" passwords.csv',
    ],
    options: [
      { flags: "--vault <vault>", description: "the vault that gets the records (name or id)" },
      {
        flags: "--format <format>",
        description: "the file's format (else guessed from the file)",
        choices: importFormats,
      },
      {
        flags: "--map <column=field>",
        description: "what a table's column holds: a record's field, custom, custom.<name> or none; several times",
        repeated: true,
      },
      { flags: "--dry-run", description: "only show what would be imported, with --vault also what exists already" },
      { flags: "--include-archived", description: "bring in archived items too" },
      { flags: "--include-deleted", description: "bring in items in a recycle bin too" },
      { flags: "--as-new", description: "import every record again, also those from an earlier import" },
      { flags: "--skip", description: "exit 0 although something was left out (it is named all the same)" },
      ...personOptions,
    ],
    load: async () => (await import("../commands/vaults/import.ts")).importFile,
  },
  {
    name: "export",
    args: "<file>",
    summary: "write a vault's records to a file, in the clear (mode 0600; - writes stdout)",
    examples: [
      "coffer export --vault Private --format coffer-json private.json",
      "coffer export --vault Private --format keepass-xml - | gpg -c > private.xml.gpg",
    ],
    options: [
      { flags: "--vault <vault>", description: "the vault (name or id)", required: true },
      {
        flags: "--format <format>",
        description: "which program is to read it",
        choices: exportFormats,
        required: true,
      },
      { flags: "--force", description: "write over a file that is there" },
      {
        flags: "--for-spreadsheets",
        description:
          "in tables, keep spreadsheets from taking passwords for formulas; other programs misread those then",
      },
      ...personOptions,
    ],
    load: async () => (await import("../commands/vaults/export.ts")).exportVault,
  },
  {
    name: "backup create",
    args: "<file>",
    summary: "everything that you can read, in one file that your recovery key opens without a service",
    examples: ["coffer backup create coffer.backup", "coffer backup create --force /mnt/usb/coffer.backup"],
    options: [
      recoveryKeyOption,
      { flags: "--force", description: "write over a file that is there" },
      ...personOptions.filter(({ flags }) => !flags.startsWith("--org")),
    ],
    load: async () => (await import("../commands/vaults/backup.ts")).createBackup,
  },
  {
    name: "backup ls",
    args: "<file>",
    summary: "what such a file holds, without values; without a service",
    examples: ["coffer backup ls coffer.backup"],
    options: [recoveryKeyOption, jsonOption],
    load: async () => (await import("../commands/vaults/backup.ts")).listBackup,
  },
  {
    name: "backup extract",
    args: "<file> <folder>",
    summary: "write what such a file holds in the clear, for `coffer import` and other programs; without a service",
    examples: ["coffer backup extract coffer.backup restored"],
    options: [recoveryKeyOption, jsonOption],
    load: async () => (await import("../commands/vaults/backup.ts")).extractBackup,
  },
];
