import type { frame as English } from "../en/frame.ts";

export const frame: typeof English = {
  product: "Coffer",
  tagline: "Ein Tresor für Menschen und Maschinen, ohne Wissen des Servers.",

  live: "Aktuell",
  connecting: "Verbindung wird aufgebaut…",
  away: (age) => (age === null ? "Ohne Verbindung" : `Ohne Verbindung: Stand ${age}`),

  about: "Über Coffer",
  aboutWhy:
    "Der Dienst liefert diese Seite. Der Befehl vergleicht sie ganz, mit ihren Kopfzeilen, mit der Version, die Sie installiert haben:",
  aboutVersion: "Version",
  aboutSources: "Hash der Quellen",
  aboutFiles: "Was hier läuft",
  aboutCommand: (address) => `coffer console verify --url ${address}`,

  palette: "Gehe zu",
  paletteHint: "Bildschirm, Aktion oder Eintrag",
  help: "Tasten und Befehle",
  helpKeys: "Tasten",
  helpCommands: "Dasselbe im Terminal",

  keyNames: {
    search: "suchen",
    move: "durch die Liste gehen",
    openRecord: "den Eintrag öffnen",
    password: "das Passwort kopieren",
    user: "den Benutzernamen kopieren",
    code: "den Code kopieren",
    edit: "den Eintrag bearbeiten",
    new: "neuer Eintrag",
    lock: "sperren",
    help: "diese Liste",
    palette: "zu einem Bildschirm, einer Aktion oder einem Eintrag",
    escape: "zurück zur Liste",
  },

  failures: {
    invalid_credentials: "Diese E-Mail und dieses Passwort gehören nicht zusammen.",
    otp_required: "Dieser Code gilt jetzt nicht. Prüfen Sie die Uhr des Geräts, das ihn zeigt.",
    registration_closed: "Die Registrierung ist hier geschlossen. Bitten Sie einen Administrator um eine Einladung.",
    network: "Der Dienst ist nicht erreichbar. Prüfen Sie die Verbindung.",
    unavailable: "Der Dienst ist nicht bereit. Versuchen Sie es gleich noch einmal.",
    access_denied: "Das dürfen Sie hier nicht. Fragen Sie einen Eigentümer, Admin oder Verwalter.",
    quota_exceeded: "Das Kontingent Ihres Kontos ist aufgebraucht. Fragen Sie einen Administrator.",
    not_found: "Das gibt es nicht mehr.",
    unexpected: "Etwas ist fehlgeschlagen, das nicht fehlschlagen sollte. Laden Sie die Seite neu.",
    history_rolled_back:
      "Der Dienst zeigt einen älteren Stand, als dieser Browser geprüft hat, wie nach einer Wiederherstellung aus einer Sicherung. Siehe „Wem dieser Browser vertraut“ unter Konto.",
    history_forked:
      "Der Dienst zeigt eine andere Historie, als dieser Browser geprüft hat. Siehe „Wem dieser Browser vertraut“ unter Konto.",
    keyring_rolled_back:
      "Der Dienst zeigt einen älteren Stand dessen, was Ihre Geräte teilen. Siehe „Wem dieser Browser vertraut“ unter Konto.",
    keyring_missing: "Der Dienst zeigt nicht, was Ihre Geräte teilen. Siehe „Wem dieser Browser vertraut“ unter Konto.",
    passkey_cancelled:
      "Der Passkey wurde nicht benutzt: die Anfrage wurde abgebrochen oder dauerte zu lange. Nichts hat sich geändert.",
    passkey_unsupported:
      "Dieser Browser oder Authenticator kann keine Sitzung versiegeln (ihm fehlt PRF). Nichts wurde gespeichert. Ein Passkey, den er gemacht hat, nützt nichts: löschen Sie ihn dort.",
    passkey_address: "Ein Passkey braucht eine Adresse mit einem Namen, etwa localhost, nicht aus Zahlen.",
    passkey_refused: "Dieser Passkey öffnet die Sitzung nicht. Nehmen Sie Ihr Passwort.",
    configuration: "Dieser Browser speichert hier nichts, wie in manchen privaten Fenstern.",
  },
  rateLimited: (seconds) => `Zu viele Versuche. In ${String(seconds)} s geht es wieder.`,
};
