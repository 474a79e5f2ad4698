import type { transfer as English } from "../en/transfer.ts";

export const transfer: typeof English = {
  importTitle: "Importieren",
  importWhy:
    "Eine Datei, die ein anderer Passwort-Manager exportiert hat. Sie wird in diesem Browser gelesen und verschlüsselt; der Dienst bekommt sie versiegelt.",
  importInto: "In den Tresor",
  importFile: "Datei",
  importFormats:
    "Bitwarden (JSON, CSV, ZIP), 1Password (1PUX), KeePass (XML), LastPass, Chrome und andere Tabellen (CSV), Coffer (JSON)",
  importRead: "Hineinsehen",
  importReading: "Wird gelesen…",
  importCommand: 'coffer import --vault "Private" export.json',
  importProblems: {
    import_unknown_format: "Das ist keine Datei eines Passwort-Managers, die Coffer liest.",
    import_wrong_format: "Das ist keine Datei eines Passwort-Managers, die Coffer liest.",
    import_encrypted:
      "Diese Datei ist verschlüsselt: nur das Programm, das sie schrieb, öffnet sie. Exportieren Sie sie noch einmal ohne Passwort.",
    import_broken: "Diese Datei ist unvollständig oder beschädigt. Exportieren Sie sie noch einmal.",
    import_too_large: "Diese Datei ist zu groß.",
    import_refused: "Diese Datei benutzt etwas, das nur Angriffe benutzen. Sie wurde nicht gelesen.",
    import_replaced: "Ein anderer Tab hat seither eine Datei gelesen. Sehen Sie die Datei noch einmal an.",
  },
  importPreview: "Was importiert würde",
  importCount: (count, present) =>
    `${count === 1 ? "1 neuer Eintrag" : `${String(count)} neue Einträge`}${present === 0 ? "" : `; ${String(present)} sind von einem früheren Import da`}.`,
  importMore: (count) => `und ${String(count)} weitere`,
  importLeftOut: "Ausgelassen",
  importAction: (count) => `${String(count)} importieren`,
  importing: "Wird importiert…",
  importProgress: (done, total) => `${String(done)} von ${String(total)} Einträgen`,
  importStop: "Anhalten",
  importStopped: (left) =>
    `Angehalten: ${left === 1 ? "1 Eintrag ist" : `${String(left)} Einträge sind`} noch nicht importiert.`,
  imported: (count) => (count === 1 ? "1 Eintrag ist importiert." : `${String(count)} Einträge sind importiert.`),
  importFailed: "Nicht importiert",
  importRemove: "Die Datei enthält noch alles im Klartext: löschen Sie sie, wenn Sie nachgesehen haben.",
  transferTitle: "Importieren und exportieren",
  exportTitle: "Einen Tresor exportieren",
  exportWhy:
    "Eine Datei mit allen Einträgen eines Tresors, für ein anderes Programm. Sie enthält jedes Geheimnis im Klartext: wer die Datei hat, hat Ihre Passwörter. Darum braucht sie Ihr Passwort.",
  exportFrom: "Aus dem Tresor",
  exportFormat: "Format",
  exportFormats: {
    "coffer-json": "Coffer (JSON): alles",
    "bitwarden-json": "Bitwarden (JSON)",
    "bitwarden-csv": "Bitwarden (CSV): Logins und Notizen",
    "1pux": "1Password (1PUX)",
    "keepass-xml": "KeePass (XML)",
    "chrome-csv": "Chrome (CSV): Logins",
    "lastpass-csv": "LastPass (CSV): Logins und Notizen",
  },
  exportAction: "Datei speichern",
  exporting: "Wird geschrieben…",
  exported: (count) => (count === 1 ? "1 Eintrag wurde gelesen." : `${String(count)} Einträge wurden gelesen.`),
  exportEmpty: "Der Tresor hat keinen Eintrag. Es wurde keine Datei gespeichert.",
  exportMissing: (count) =>
    count === 1
      ? "1 Eintrag lässt sich nicht öffnen und ist nicht in der Datei."
      : `${String(count)} Einträge lassen sich nicht öffnen und sind nicht in der Datei.`,
  exportLeftOut: "Nicht in der Datei",
  exportRemove: "Löschen Sie die Datei, wenn das andere Programm sie hat.",
};
