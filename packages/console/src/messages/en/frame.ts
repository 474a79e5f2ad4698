/** The frame, the commands and the failures of any call. */
export const frame = {
  product: "Coffer",
  tagline: "A zero-knowledge vault for people and machines.",

  live: "Up to date",
  connecting: "Connecting…",
  away: (age: string | null) => (age === null ? "Offline" : `Offline: as of ${age}`),

  about: "About",
  aboutWhy:
    "The service delivers this page. The command compares all of it, with its headers, with the release that you installed:",
  aboutVersion: "Version",
  aboutSources: "Hash of the sources",
  aboutFiles: "What runs here",
  aboutCommand: (address: string) => `coffer console verify --url ${address}`,

  palette: "Go to",
  paletteHint: "Screen, action or record",
  help: "Keys and commands",
  helpKeys: "Keys",
  helpCommands: "The same in a terminal",

  keyNames: {
    search: "search",
    move: "move through the list",
    openRecord: "open the record",
    password: "copy the password",
    user: "copy the user name",
    code: "copy the code",
    edit: "edit the record",
    new: "new record",
    lock: "lock",
    help: "this list",
    palette: "go to a screen, an action or a record",
    escape: "back to the list",
  },

  failures: {
    invalid_credentials: "This e-mail and password do not belong together.",
    otp_required: "That code is not valid now. Check the clock of the device that shows it.",
    registration_closed: "Registration is closed here. Ask an administrator for an invitation.",
    network: "The service cannot be reached. Check the connection.",
    unavailable: "The service is not ready. Try again in a moment.",
    access_denied: "You may not do that here. Ask an owner, an admin or a manager.",
    quota_exceeded: "The quota of your account is used up. Ask an administrator.",
    not_found: "It is not there any more.",
    unexpected: "Something failed that should not have. Reload the page.",
    history_rolled_back:
      "The service shows an older state than this browser has verified, as after a restore from a backup. See “What this browser trusts” under Account.",
    history_forked:
      "The service shows another history than this browser has verified. See “What this browser trusts” under Account.",
    keyring_rolled_back:
      "The service shows an older state of what your devices share. See “What this browser trusts” under Account.",
    keyring_missing: "The service does not show what your devices share. See “What this browser trusts” under Account.",
    passkey_cancelled: "The passkey was not used: the request was cancelled or took too long. Nothing has changed.",
    passkey_unsupported:
      "This browser or authenticator cannot seal a session (it has no PRF). Nothing was stored. A passkey that it made is of no use: delete it there.",
    passkey_address: "A passkey needs an address with a name, such as localhost, and not one of numbers.",
    passkey_refused: "This passkey does not open the session. Use your password.",
    configuration: "This browser does not store data here, as in some private windows.",
  },
  rateLimited: (seconds: number) => `Too many attempts. You can try again in ${String(seconds)} s.`,
};
