import type { machines as English } from "../en/machines.ts";

export const machines: typeof English = {
  neighbours: "Seiten dieses Teils",
  machines: "Maschinen",
  noApplicationTitle: "Sie haben noch keine Maschine",
  noApplication:
    "Eine Maschine liest Geheimnisse mit eigener Identität: ein CI-Job, ein Server, ein Pod. Ihr Schlüssel entsteht dort und bleibt dort. Machen Sie ein Token für die erste:",
  machinesNotYours:
    "Maschinen sind für Eigentümer und Admins einer Organisation; Auditoren sehen sie. Sie sind nichts davon.",
  noMachine: "Noch hat keine Maschine ein Token dieser Anwendung benutzt.",
  applicationHint: "Was auf der Maschine läuft. Ein neuer Name legt eine neue an.",
  noFolderToGive: "Sie verwalten keinen Ordner, den Sie einer Maschine geben könnten. Legen Sie zuerst einen an.",
  machineStatus: { active: "aktiv", revoked: "gesperrt", expired: "abgelaufen" },
  machineWords: (words) => `Schlüssel: ${words}`,
  lastSeen: (date, ip) => (ip === null ? `zuletzt ${date}` : `zuletzt ${date} von ${ip}`),
  neverSeen: "noch nie gesehen",
  endsAt: (date) => `endet ${date}`,
  machineFolder: (folder, permission) => `${folder}: ${permission}`,
  revoke: "Sperren",
  revokeOf: (machine, id) => `${machine} sperren (${id})`,
  revokeText: (machine) =>
    `${machine} verliert den Zugang binnen einer Sekunde. Was gelesen wurde, kann sie behalten haben.`,
  openTokens: "Token, die noch keine Maschine benutzt hat",
  withdrawnByServiceOnly:
    "Der Dienst hat es zurückgezogen. In keinem Ordner, den Sie verwalten, war seine Einladung offen.",
  withdrawToken: (name) => `Das Token von ${name} zurückziehen`,
  removeApplication: (name) => `Anwendung ${name} löschen`,
  removeApplicationText: (name) =>
    `Alle Maschinen und Token von „${name}“ enden. Das lässt sich nicht rückgängig machen.`,
  machinesCommand: "coffer client ls",
};
