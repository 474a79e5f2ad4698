import type { people as English } from "../en/people.ts";

export const people: typeof English = {
  toDo: "Zu tun",
  toDoLooking: "Wird gesucht…",
  toDoNothing: "Nichts wartet auf Sie.",
  toDoWhy:
    "Von den Ordnern und Tresoren, die Sie verwalten, den Maschinen und der Organisation: Schlüssel, Abläufe in den nächsten 14 Tagen, Maschinen, die 30 Tage lang nicht gesehen wurden.",
  never: "nie",
  toDoItems: {
    unconfirmed: (name) => `Kein Verlauf nennt den Schlüssel von ${name}. Vergleichen Sie Wörter.`,
    ended: (name) => `${name} ist ausgeschieden, und der Verlauf sagt noch etwas anderes: entfernen Sie noch einmal.`,
    without_key: (name, of) => `${name} hat noch keinen Schlüssel von „${of}“.`,
    key_changed: (name, of) =>
      `Der Dienst zeigt in „${of}“ einen anderen Schlüssel von ${name}, als der Verlauf nennt. Er wird nicht benutzt.`,
    offer: (name) => `„${name}“ ist mit Ihnen geteilt: nehmen Sie es an oder nicht.`,
    locked: (name, of) => `„${name}“ lässt sich nicht öffnen: ${of}`,
    secret_expires: (name, of, at) => `Das Geheimnis „${name}“ in „${of}“ läuft ${at} ab.`,
    secret_expired: (name, of, at) => `Das Geheimnis „${name}“ in „${of}“ ist ${at} abgelaufen.`,
    machine_unseen: (name, of, at) => `Die Maschine „${name}“ von „${of}“ wurde zuletzt ${at} gesehen.`,
    machine_ends: (name, of, at) => `Die Maschine „${name}“ von „${of}“ endet ${at}.`,
    token_unused: (name, of, at) => `Keine Maschine hat das Token „${name}“ von „${of}“ benutzt. Es endet ${at}.`,
    destination: (name, _of, at) => `Das Audit erreicht „${name}“ nicht, zuletzt versucht ${at}.`,
  },

  people: "Personen",
  peopleOf: (organization) => `Die Mitglieder von ${organization}`,
  noOrganization:
    "Sie sind noch in keiner Organisation. Ihr gehören die Ordner, die Maschinen und was Sie teilen: Treten Sie einer mit einer Einladung bei, oder legen Sie eine im Terminal an.",
  organizationCommand: "coffer org create Example",
  roles: { owner: "Inhaber", admin: "Administrator", member: "Mitglied", auditor: "Prüfer" },
  role: "Rolle",
  roleOf: (email) => `Rolle von ${email}`,
  statuses: { active: "aktiv", suspended: "gesperrt" },
  removePerson: (email) => `${email} entfernen`,
  removePersonText: (email) =>
    `${email} verliert die Organisation mit allen Ordnern und Tresoren sofort. Was gelesen wurde, kann kopiert sein.`,
  roleCommand: "coffer member set <e-mail> --role admin",
  noSession: "Keine Sitzung.",
  sessionsEndAll: "Alle beenden",
  memberSessionsCommand: "coffer member sessions <e-mail>",
  memberKey: "Schlüssel",
  memberKeys: {
    confirmed: "Der Verlauf der Organisation nennt diesen Schlüssel.",
    unconfirmed:
      "Kein Verlauf nennt diesen Schlüssel: die Person bekommt keinen Schlüssel eines Ordners oder Tresors. Fragen Sie am Telefon nach diesen sechs Wörtern, dann bestätigen Sie.",
    changed:
      "Der Dienst zeigt einen anderen Schlüssel, als der Verlauf nennt. Er wird nicht benutzt. Fragen Sie die Person, ob sie neu angefangen hat; wenn nicht, sagen Sie es einem Administrator der Installation.",
  },
  memberConfirm: "Die Wörter sind gleich: bestätigen",
  memberConfirmed: (email) => `${email} ist bestätigt`,
  memberNotConfirmed:
    "Nichts wurde unterschrieben: der Dienst zeigt jetzt einen anderen Schlüssel oder eine andere E-Mail, oder ein anderes Mitglied hat diese E-Mail.",
  memberConfirmCommand: "coffer member confirm <e-mail>",
  memberTravelWhy:
    "Für eine Person vor einer Grenze: nur ihre sicheren Tresore bleiben, auf allen ihren Geräten, bis es ausgeschaltet wird.",
  memberTravelOn: "Einschalten",
  memberTravelOff: "Ausschalten",
  memberTravelDone: (email, enabled) => `Der Reisemodus von ${email} ist ${enabled ? "an" : "aus"}`,
  leaving: "Ausscheiden",
  leavingHolds: "Diese nennen die Person und brauchen nach dem Entfernen einen neuen Schlüssel:",
  leavingNothing: "Kein Ordner oder Tresor, den dieser Browser kennt, nennt die Person.",
  sharedKinds: { folder: "Ordner", vault: "Tresor" },
  suspend: "Sperren",
  suspendPerson: (email) => `${email} sperren`,
  suspendPersonText: (email) =>
    `${email} kann die Organisation nicht benutzen, bis Sie die Person wieder freigeben, und behält den Platz darin.`,
  reactivatePerson: (email) => `${email} wieder freigeben`,
  removePersonCommand: "coffer member rm <e-mail>",
  rotateAfter: "Diese brauchen einen neuen Schlüssel, damit geheim bleibt, was von jetzt an geschrieben wird:",
  invitations: "Offene Einladungen",
  inviteTitle: "Jemanden einladen",
  inviteAction: "Einladen",
  invitationOnce: "Schicken Sie diesen Link der Person, auf einem Weg, den nur sie liest. Er wird nur jetzt gezeigt.",
  invitationLink: "Link der Einladung",
  invitationKept: "Ich habe ihn verschickt",
  withdraw: "Zurückziehen",
  withdrawOf: (email) => `Einladung von ${email} zurückziehen`,
  until: (date) => `bis ${date}`,
  joinTitle: "Einer Organisation beitreten",
  joinWhy:
    "Sie bekommen, was die Organisation mit Ihnen teilt. Ihr signierter Verlauf nennt Ihren Schlüssel: Kollegen teilen mit Ihnen, ohne Wörter zu vergleichen.",
  joinInvitation: "Einladung oder ihr Link",
  joinShown: "Die Einladung",
  joinFrom: (from, organization) => `${from} lädt Sie zu ${organization} ein`,
  joinProves:
    "Nur die Person, die diese Einladung gemacht hat, konnte das in die unterschriebene Historie der Organisation schreiben. Wessen Adresse und wessen Organisation das ist, beweist sie nicht: Treten Sie bei, wenn die Person, die Sie kennen, Ihnen den Link geschickt hat.",
  joinUnproven:
    "Der Dienst hat diese Einladung gemacht. Nichts beweist, zu welcher Organisation sie gehört und wer Sie einlädt. Fragen Sie die Person, die sie geschickt hat.",
  joinOther: (email) => `Sie ist für eine andere E-Mail als Ihre, ${email}.`,
  joinAction: "Beitreten",
  joined: (organization) => `Sie sind ${organization} beigetreten`,
  joinCommand: "coffer invite accept",
  registerInvited: "Sie sind eingeladen. Legen Sie zuerst ein Konto an; dann treten Sie bei.",

  trust: "Vertrauen",
  trustTitle: "Wem dieser Browser vertraut",
  trustWhy:
    "Verwalter unterschreiben jede Änderung einer Organisation, eines Ordners oder geteilten Tresors. Dieser Browser merkt sich, wie weit er jede Historie geprüft hat, und lehnt eine ältere oder andere ab.",
  trustNothing: "Sie sind in keiner Organisation und teilen keinen Tresor: Es gibt nichts zu prüfen.",
  trustEntries: (count) => (count === 1 ? "1 Eintrag geprüft" : `${String(count)} Einträge geprüft`),
  trustDevices: "Was Ihre Geräte teilen",
  trustCompare: "Wörter vergleichen",
  trustCompareOf: (name) => `Wörter vergleichen: ${name}`,
  trustCompareAll: "Die Wörter aller vergleichen",
  trustCompareTitle: "Dem vertrauen, was der Dienst jetzt zeigt?",
  trustCompareWhy:
    "Nur wenn der Betreiber eine Wiederherstellung aus einer Sicherung angekündigt hat. Fragen Sie jede Person unten am Telefon nach den sechs Wörtern ihres eigenen Schlüssels. Was nach der Sicherung unterschrieben wurde, ist verloren: Auch Entfernungen müssen wiederholt werden.",
  trustGoesBack: (seen, shown) =>
    `Der Dienst zeigt ${String(shown)} als neuesten Eintrag. Den Eintrag ${String(seen)}, den dieser Browser kennt, zeigt er nicht. Seither entfernte Mitglieder hätten wieder Zugriff. Bestätigen Sie nur nach einer angekündigten Wiederherstellung.`,
  trustSigner: (name, signer) => `${name}: zuletzt unterschrieben von ${signer}`,
  trustConfirm: "Die Wörter sind gleich: vertrauen",
  trustChanged: "Nichts wurde übernommen: Der Dienst zeigt jetzt etwas anderes, als Sie verglichen haben.",
  trusted: "Ab jetzt vertraut",
  trustCommand: "coffer folder trust <id>",
  trustAllCommand: "coffer keyring trust",
  historyKinds: { org: "Organisation", folder: "Ordner", vault: "Tresor" },
  refused: {
    history_rolled_back:
      "Der Dienst zeigt einen älteren Stand, als dieser Browser geprüft hat, wie nach einer Wiederherstellung aus einer Sicherung. Nichts davon wird benutzt.",
    history_forked: "Der Dienst zeigt eine andere Historie, als dieser Browser geprüft hat. Nichts davon wird benutzt.",
    history_invalid:
      "Der Dienst zeigt eine Historie, die ihre Verwalter nicht unterschrieben haben. Nichts davon wird benutzt.",
    signer_removed:
      "Jemand hat unterschrieben, der die Organisation verlassen hatte. Nichts davon wird benutzt: Sagen Sie es einem Verwalter.",
    keyring_missing: "Der Dienst zeigt nicht, was Ihre Geräte über Historien teilen.",
    keyring_rolled_back: "Der Dienst zeigt einen älteren Stand dessen, was Ihre Geräte über Historien teilen.",
    not_accepted: "Mit Ihnen geteilt und noch nicht angenommen.",
    no_history: "Noch ohne Historie: Ein Verwalter legt sie mit dem Befehl an.",
    no_key:
      "Sie haben den Schlüssel nicht. Wer es verwaltet, gibt ihn Ihnen beim nächsten Öffnen von Coffer. Prüfer lesen nur das Protokoll.",
  },
};
