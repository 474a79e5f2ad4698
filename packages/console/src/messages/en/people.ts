/** The members of an organization, and what this browser trusts. */
export const people = {
  toDo: "To do",
  toDoLooking: "Looking…",
  toDoNothing: "Nothing waits for you.",
  toDoWhy:
    "Of the folders and vaults that you manage, the machines and the organization: keys, expiries within 14 days, machines that were not seen for 30 days.",
  never: "never",
  toDoItems: {
    unconfirmed: (name: string) => `No history names the key of ${name}. Compare words.`,
    ended: (name: string) => `${name} has left, and the history still says otherwise: remove once more.`,
    without_key: (name: string, of: string) => `${name} has no key of “${of}” yet.`,
    key_changed: (name: string, of: string) =>
      `The service shows another key for ${name} in “${of}” than the history names. It is not used.`,
    offer: (name: string) => `“${name}” is shared with you: accept it or not.`,
    locked: (name: string, of: string) => `“${name}” cannot be opened: ${of}`,
    secret_expires: (name: string, of: string, at: string) => `The secret “${name}” in “${of}” expires ${at}.`,
    secret_expired: (name: string, of: string, at: string) => `The secret “${name}” in “${of}” expired ${at}.`,
    machine_unseen: (name: string, of: string, at: string) => `The machine “${name}” of “${of}” was last seen ${at}.`,
    machine_ends: (name: string, of: string, at: string) => `The machine “${name}” of “${of}” ends ${at}.`,
    token_unused: (name: string, of: string, at: string) =>
      `No machine has used the token “${name}” of “${of}”, which ends ${at}.`,
    destination: (name: string, _of: string, at: string) => `The audit does not reach “${name}”, last tried ${at}.`,
  },

  people: "People",
  peopleOf: (organization: string) => `The members of ${organization}`,
  noOrganization:
    "You are in no organization yet. It has the folders, the machines and what you share: join one with an invitation, or make one in a terminal.",
  organizationCommand: "coffer org create Example",
  roles: { owner: "Owner", admin: "Admin", member: "Member", auditor: "Auditor" },
  role: "Role",
  roleOf: (email: string) => `Role of ${email}`,
  statuses: { active: "active", suspended: "suspended" },
  removePerson: (email: string) => `Remove ${email}`,
  removePersonText: (email: string) =>
    `${email} loses the organization with all its folders and vaults at once. What was read may have been copied.`,
  roleCommand: "coffer member set <e-mail> --role admin",
  noSession: "No session.",
  sessionsEndAll: "End all",
  memberSessionsCommand: "coffer member sessions <e-mail>",
  memberKey: "Key",
  memberKeys: {
    confirmed: "The history of the organization names this key.",
    unconfirmed:
      "No history names this key: the person gets no key of a folder or vault. Ask for these six words on the phone, then confirm.",
    changed:
      "The service shows another key than the history names. It is not used. Ask the person whether they started over; if not, tell an administrator of the installation.",
  },
  memberConfirm: "The words are equal: confirm",
  memberConfirmed: (email: string) => `${email} is confirmed`,
  memberNotConfirmed:
    "Nothing was signed: the service shows another key or e-mail now, or another member has this e-mail.",
  memberConfirmCommand: "coffer member confirm <e-mail>",
  memberTravelWhy:
    "For a person before a border: only their safe vaults stay, on all their devices, until it is switched off.",
  memberTravelOn: "Switch on",
  memberTravelOff: "Switch off",
  memberTravelDone: (email: string, enabled: boolean) => `Travel mode of ${email} is ${enabled ? "on" : "off"}`,
  leaving: "Leaving",
  leavingHolds: "These name the person, and need a new key after the removal:",
  leavingNothing: "No folder or vault that this browser knows names the person.",
  sharedKinds: { folder: "folder", vault: "vault" },
  suspend: "Suspend",
  suspendPerson: (email: string) => `Suspend ${email}`,
  suspendPersonText: (email: string) =>
    `${email} cannot use the organization until you activate them again, and keeps the place in it.`,
  reactivatePerson: (email: string) => `Activate ${email} again`,
  removePersonCommand: "coffer member rm <e-mail>",
  rotateAfter: "These need a new key, so that what is written from now on stays secret:",
  invitations: "Open invitations",
  inviteTitle: "Invite a colleague",
  inviteAction: "Invite",
  invitationOnce: "Send this link to the person, over a channel that only the person reads. It is shown this once.",
  invitationLink: "Link of the invitation",
  invitationKept: "I have sent it",
  withdraw: "Withdraw",
  withdrawOf: (email: string) => `Withdraw the invitation of ${email}`,
  until: (date: string) => `until ${date}`,
  joinTitle: "Join an organization",
  joinWhy:
    "You get what the organization shares with you. Its signed history names your key, so that colleagues share with you without comparing words.",
  joinInvitation: "Invitation, or its link",
  joinAction: "Join",
  joinShown: "The invitation",
  joinFrom: (from: string, organization: string) => `${from} invites you to ${organization}`,
  joinProves:
    "Only the person who made this invitation could write that into the signed history of the organization. It does not prove whose address that is, or whose organization: join if the person you know sent you the link.",
  joinUnproven:
    "The service has made this invitation, so nothing proves which organization it is or who invites you. Ask the person who sent it.",
  joinOther: (email: string) => `It is for another e-mail than yours, ${email}.`,
  joined: (organization: string) => `You are a member of ${organization}`,
  joinCommand: "coffer invite accept",
  registerInvited: "You are invited. Make an account first; then you join.",

  trust: "Trust",
  trustTitle: "What this browser trusts",
  trustWhy:
    "Managers sign each change of an organization, folder or shared vault. This browser remembers how far it has verified each history, and refuses an older or another one.",
  trustNothing: "You are in no organization and share no vault: there is nothing to verify.",
  trustEntries: (count: number) => (count === 1 ? "1 entry verified" : `${String(count)} entries verified`),
  trustDevices: "What your devices share",
  trustCompare: "Compare words",
  trustCompareOf: (name: string) => `Compare words: ${name}`,
  trustCompareAll: "Compare the words of all",
  trustCompareTitle: "Trust what the service shows now?",
  trustCompareWhy:
    "Only if the operator has announced a restore from a backup. Ask each person below on the phone for the six words of their own key. What was signed after the backup is lost: removals too must be made again.",
  trustGoesBack: (seen: number, shown: number) =>
    `The service shows ${String(shown)} as the newest entry. It does not show the entry ${String(seen)} that this browser knows. Members who were removed since then would have access again. Confirm only after an announced restore.`,
  trustSigner: (name: string, signer: string) => `${name}: last signed by ${signer}`,
  trustConfirm: "The words are equal: trust this",
  trustChanged: "Nothing was trusted: the service shows something else now than what you have compared.",
  trusted: "Trusted from now on",
  trustCommand: "coffer folder trust <id>",
  trustAllCommand: "coffer keyring trust",
  historyKinds: { org: "organization", folder: "folder", vault: "vault" },
  refused: {
    history_rolled_back:
      "The service shows an older state than this browser has verified, as after a restore from a backup. Nothing of it is used.",
    history_forked: "The service shows another history than this browser has verified. Nothing of it is used.",
    history_invalid: "The service shows a history that its managers did not sign. Nothing of it is used.",
    signer_removed: "A person signed it who had left the organization. Nothing of it is used: tell a manager.",
    keyring_missing: "The service does not show what your devices share about histories.",
    keyring_rolled_back: "The service shows an older state of what your devices share about histories.",
    not_accepted: "It is shared with you, and not accepted yet.",
    no_history: "It has no history yet: a manager adopts it with the command.",
  },
};
