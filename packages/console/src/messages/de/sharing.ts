import type { sharing as English } from "../en/sharing.ts";

export const sharing: typeof English = {
  share: "Teilen",
  sharingTitle: (name) => `Wer „${name}“ hat`,
  sharingWhy:
    "Die Personen und ihre Schlüssel stehen im signierten Verlauf der Organisation: der Dienst kann niemanden hinzufügen.",
  sharingCommand: (kind) => `coffer ${kind} share <${kind}> <e-mail>`,
  machine: "Maschine",
  rotate: "Neuer Schlüssel",
  rotateTitle: "Neue Schlüssel sind nötig",
  rotateOf: (name) => `Neuer Schlüssel für ${name}`,
  rotateText: (name) =>
    `Alle Geheimnisse von „${name}“ werden unter einem neuen Schlüssel versiegelt, für alle, die die Historie bestätigt. Wer den Zugang vorher verlor, kann nichts öffnen, was von da an geschrieben wird.`,
  rotated: "Es gibt einen neuen Schlüssel.",
  unopened: (uids) =>
    `Diese Geheimnisse lassen sich nicht öffnen und sind unter keinem neuen Schlüssel versiegelt: ${uids}`,
  members: "Mitglieder",
  you: "Sie",
  permission: "Berechtigung",
  permissionOf: (email) => `Was ${email} darf`,
  permissions: { read: "darf lesen", write: "darf ändern", manage: "verwaltet" },
  memberRemove: "Entfernen",
  memberRemoveTitle: (email) => `${email} entfernen`,
  memberRemoveText: (email) =>
    `${email} verliert den Zugang sofort, und es gibt einen neuen Schlüssel. Was gelesen wurde, kann kopiert sein: ersetzen Sie, was geheim bleiben muss.`,
  memberEnded: "Entfernt, aber noch im Verlauf: entfernen Sie noch einmal.",
  personUnconfirmed:
    "Nicht bestätigt: wer das ist, sagt nur der Dienst. Ein Administrator vergleicht Wörter mit „coffer member confirm“.",
  memberProblems: {
    holder_unconfirmed: "Ohne Schlüssel: ein Administrator bestätigt die Person mit „coffer member confirm“.",
    key_pending: "Noch ohne Schlüssel: das Gerät eines Verwalters gibt ihn.",
  },
  membersWithout: (who) => `Diese Mitglieder bekamen den neuen Schlüssel nicht, weil niemand sie bestätigt: ${who}`,
  colleague: "Kollege oder Kollegin",
  noColleagues: "Niemand sonst in der Organisation könnte es bekommen. Laden Sie andere ein:",
  inviteCommand: "coffer invite create <e-mail>",

  travel: "Reisemodus",
  travelWhy:
    "Vor einer Grenze: nur die Tresore bleiben, die Sie als sicher markieren. Die anderen gibt es dann für Sie nicht, auf keinem Gerät, bis Sie die Reise mit Ihrem Passwort beenden.",
  travelOff: "Der Reisemodus ist aus.",
  travelOn: (since) => (since === null ? "Der Reisemodus ist an." : `Der Reisemodus ist an seit ${since}.`),
  travelStays: "Bleibt auf Reisen",
  travelCount: (stay, go) => `${String(stay)} bleiben, ${String(go)} gehen`,
  travelStart: "Reise beginnen",
  travelStartTitle: "Diese Tresore jetzt verbergen?",
  travelStartText: "Diese Tresore verschwinden von allen Ihren Geräten:",
  travelNothing: "Kein Tresor verschwindet: alle sind als sicher markiert.",
  travelStop: "Reise beenden",
  travelStopWhy: "Ihr Passwort zeigt die verborgenen Tresore wieder.",
  travelNoVault: "Sie haben keinen Tresor, der verborgen werden könnte.",
  travelCommand: "coffer travel on",
  travelCommandOff: "coffer travel off",
  devices: "Ihre Geräte",
  devicesWhy:
    "Ein ausgeschaltetes Gerät behält seine Kopie, bis es sich wieder verbindet. Schalten Sie es vor der Abreise ein.",
  thisDevice: "dieses",
  lastUsed: (date) => `zuletzt benutzt ${date}`,
  notSince: "nicht gesehen, seit die Reise begann",
  codeNeeded: "Ihr Konto hat einen zweiten Faktor: geben Sie einen Code ein.",
  toRecords: "Zurück zu den Einträgen",
};
