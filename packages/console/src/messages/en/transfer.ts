/** Import and export. */
export const transfer = {
  importTitle: "Import",
  importWhy:
    "A file that another password manager has exported. It is read and encrypted in this browser; the service gets it sealed.",
  importInto: "Into the vault",
  importFile: "File",
  importFormats:
    "Bitwarden (JSON, CSV, ZIP), 1Password (1PUX), KeePass (XML), LastPass, Chrome and other tables (CSV), Coffer (JSON)",
  importRead: "Look into it",
  importReading: "Reading…",
  importCommand: 'coffer import --vault "Private" export.json',
  importProblems: {
    import_unknown_format: "This is no file of a password manager that Coffer reads.",
    import_wrong_format: "This is no file of a password manager that Coffer reads.",
    import_encrypted:
      "This file is encrypted: only the program that wrote it opens it. Export it again without a password.",
    import_broken: "This file is incomplete or damaged. Export it again.",
    import_too_large: "This file is too large.",
    import_refused: "This file uses something that only attacks use. It was not read.",
    import_replaced: "Another tab has read a file since. Look into the file again.",
  },
  importPreview: "What would be imported",
  importCount: (count: number, present: number) =>
    `${count === 1 ? "1 new record" : `${String(count)} new records`}${present === 0 ? "" : `; ${String(present)} are there from an earlier import`}.`,
  importMore: (count: number) => `and ${String(count)} more`,
  importLeftOut: "Left out",
  importAction: (count: number) => `Import ${String(count)}`,
  importing: "Importing…",
  importProgress: (done: number, total: number) => `${String(done)} of ${String(total)} records`,
  importStop: "Stop",
  importStopped: (left: number) =>
    `Stopped: ${left === 1 ? "1 record is" : `${String(left)} records are`} not imported yet.`,
  imported: (count: number) => (count === 1 ? "1 record is imported." : `${String(count)} records are imported.`),
  importFailed: "Not imported",
  importRemove: "The file still holds all of it in the clear: delete it when you have looked.",
  transferTitle: "Import and export",
  exportTitle: "Export a vault",
  exportWhy:
    "A file with all records of a vault, for another program. It holds every secret in the clear: anyone who has the file has your passwords. So it needs your password.",
  exportFrom: "From the vault",
  exportFormat: "Format",
  exportFormats: {
    "coffer-json": "Coffer (JSON): everything",
    "bitwarden-json": "Bitwarden (JSON)",
    "bitwarden-csv": "Bitwarden (CSV): logins and notes",
    "1pux": "1Password (1PUX)",
    "keepass-xml": "KeePass (XML)",
    "chrome-csv": "Chrome (CSV): logins",
    "lastpass-csv": "LastPass (CSV): logins and notes",
  },
  exportAction: "Save the file",
  exporting: "Writing…",
  exported: (count: number) => (count === 1 ? "1 record was read." : `${String(count)} records were read.`),
  exportEmpty: "The vault has no record. No file was saved.",
  exportMissing: (count: number) =>
    count === 1
      ? "1 record cannot be opened and is not in the file."
      : `${String(count)} records cannot be opened and are not in the file.`,
  exportLeftOut: "Not in the file",
  exportRemove: "Delete the file when the other program has it.",
};
