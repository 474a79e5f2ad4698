import type { session as English } from "../en/session.ts";

export const session: typeof English = {
  email: "E-Mail",
  password: "Passwort",
  yourName: "Ihr Name (freiwillig)",
  organization: "Organisation (freiwillig)",
  signIn: "Anmelden",
  signingIn: "Anmeldung läuft…",
  whatTheServiceLearns:
    "Der Dienst erfährt Ihre E-Mail und dass Sie sich angemeldet haben. Ihr Passwort bleibt in diesem Browser.",
  noAccount: "Noch kein Konto?",
  haveAccount: "Schon registriert?",
  codeTitle: "Zweiter Faktor",
  codeLabel: "Code aus Ihrer Authenticator-App oder ein Wiederherstellungscode",
  confirm: "Bestätigen",
  back: "Zurück",
  cancel: "Abbrechen",
  close: "Schließen",

  register: "Konto anlegen",
  registering: "Konto wird angelegt…",
  registerTitle: "Konto anlegen",
  passwordAgain: "Passwort noch einmal",
  passwordHint: "Mindestens 10 Zeichen. Nur Sie können es zurücksetzen, mit dem Wiederherstellungsschlüssel.",
  invitedOther:
    "Die Einladung gilt für eine andere E-Mail-Adresse. Nehmen Sie die, an die sie ging, oder bitten Sie um eine für diese.",
  emailTaken: "Diese E-Mail hat schon ein Konto.",
  passwordsDiffer: "Die beiden Passwörter sind verschieden.",
  passwordShort: "Ein Passwort hat mindestens 10 Zeichen.",
  forgotten: "Passwort vergessen?",
  recoverTitle: "Zurück mit dem Wiederherstellungsschlüssel",
  recoverWhy:
    "Ihre anderen Sitzungen enden, und Sie bekommen einen anderen Wiederherstellungsschlüssel. Ihre Tresore bleiben, wie sie sind.",
  recoverAction: "Passwort setzen",
  recovering: "Das Passwort wird gesetzt…",
  recoverRefused: "E-Mail und Wiederherstellungsschlüssel gehören nicht zusammen.",
  recoveryTitle: "Ihr Wiederherstellungsschlüssel",
  recoveryWhy:
    "Nur mit ihm kommen Sie wieder hinein, wenn Sie Ihr Passwort vergessen. Er wird einmal gezeigt. Drucken Sie ihn aus und verwahren Sie ihn.",
  recoveryFor: (email) => `Wiederherstellungsschlüssel von ${email}`,
  recoveryUse:
    "So wird er benutzt: diese Adresse öffnen und „Passwort vergessen?“ wählen, oder im Terminal: coffer recover",
  recoveryMalformed:
    "Ein Wiederherstellungsschlüssel ist cfr1_ und 43 weitere Zeichen. Vergleichen Sie ihn mit Ihrem Blatt.",
  print: "Drucken",
  copy: "Kopieren",
  recoveryCheck: "Tippen Sie die letzten 6 Zeichen, zum Zeichen, dass Sie ihn haben",
  recoveryWrong: "Das sind nicht die letzten 6 Zeichen.",
  continue: "Weiter",

  unlockTitle: "Gesperrt",
  unlock: "Entsperren",
  unlocking: "Wird entsperrt…",
  lock: "Sperren",
  signOut: "Abmelden",
  wrongPassword: "Das ist nicht Ihr Passwort.",
  endedRevoked: "Ihre Sitzung wurde anderswo beendet. Melden Sie sich neu an.",
  endedAttempts: "Zu viele falsche Passwörter: die Sitzung wurde beendet. Melden Sie sich neu an.",

  insecureTitle: "Diese Adresse ist nicht sicher",
  insecure:
    "Ein Browser entschlüsselt nur unter https oder auf diesem Rechner. Öffnen Sie die Konsole unter ihrer https-Adresse.",
};
