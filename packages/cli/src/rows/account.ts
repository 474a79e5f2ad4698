import {
  confirmOptions,
  dataOptions,
  jsonOption,
  otpOptions,
  personOptions,
  urlOption,
  yesOption,
} from "../command-row.ts";
import type { CommandRow } from "../command-row.ts";

const trustCommands = () => import("../commands/trust.ts");
const passwordFile = { flags: "--password-file <file>", description: "read the password from a file's first line" };
const email = { flags: "--email <address>", description: "your e-mail address", required: true };

export const accountRows: readonly CommandRow[] = [
  {
    name: "register",
    summary: "make an account and log in; prints the recovery key once",
    examples: [
      'coffer register --email you@example.com --org "Example"',
      "coffer register --email you@example.com --password-file ./password",
    ],
    options: [
      email,
      { flags: "--org <name>", description: "make an organization of this name too, with you as its owner" },
      { flags: "--name <name>", description: "your name" },
      { flags: "--invite", description: "with an invitation, from stdin, COFFER_TOKEN or the terminal" },
      passwordFile,
      urlOption,
      jsonOption,
    ],
    load: async () => (await import("../commands/register.ts")).register,
  },
  {
    name: "login",
    summary: "open a session; the password never leaves this machine",
    examples: ["coffer login --email you@example.com", "COFFER_PASSWORD=… coffer login --email you@example.com"],
    options: [email, passwordFile, ...otpOptions, urlOption, jsonOption],
    load: async () => (await import("../commands/login.ts")).login,
  },
  {
    name: "logout",
    summary: "end the session and forget it and the unlocked key",
    examples: ["coffer logout"],
    options: [urlOption],
    load: async () => (await import("../commands/logout.ts")).logout,
  },
  {
    name: "whoami",
    summary: "who the service says you are, as a person or a machine, and the fingerprint of your own key",
    examples: ["coffer whoami", "coffer whoami --config machine.json --json"],
    options: dataOptions,
    load: async () => (await import("../commands/whoami.ts")).whoami,
  },
  {
    name: "sessions",
    summary: "list where you are logged in, and end sessions within a second",
    examples: ["coffer sessions", "coffer sessions --end-others"],
    options: [
      { flags: "--end <id>", description: "end this session" },
      { flags: "--end-others", description: "end every session but this one" },
      ...personOptions,
    ],
    load: async () => (await import("../commands/sessions.ts")).sessions,
  },
  {
    name: "password",
    summary: "change the password; every other session ends",
    examples: ["coffer password", "coffer password --new-recovery-key"],
    options: [
      passwordFile,
      { flags: "--new-password-file <file>", description: "read the new password from a file's first line" },
      { flags: "--new-recovery-key", description: "replace the recovery key too; prints the new one once" },
      ...otpOptions,
      urlOption,
      jsonOption,
    ],
    load: async () => (await import("../commands/security.ts")).changePassword,
  },
  {
    name: "recover",
    summary: "a new password by the recovery key, which is replaced; logs in",
    examples: ["coffer recover --email you@example.com"],
    options: [
      email,
      { flags: "--recovery-key-file <file>", description: "read the recovery key from a file's first line" },
      { ...passwordFile, description: "read the new password from a file's first line" },
      ...otpOptions,
      urlOption,
      jsonOption,
    ],
    load: async () => (await import("../commands/security.ts")).recover,
  },
  {
    name: "totp on",
    summary: "begin to switch the second factor on; prints the secret for an authenticator",
    examples: ["coffer totp on"],
    options: [passwordFile, ...otpOptions, urlOption, jsonOption],
    load: async () => (await import("../commands/security.ts")).totpOn,
  },
  {
    name: "totp confirm",
    summary: "switch it on with the authenticator's first code; prints the recovery codes once",
    examples: ["coffer totp confirm --otp 123456"],
    options: [...otpOptions, urlOption, jsonOption],
    load: async () => (await import("../commands/security.ts")).totpConfirm,
  },
  {
    name: "totp off",
    summary: "switch the second factor off",
    examples: ["coffer totp off"],
    options: [passwordFile, ...otpOptions, urlOption, jsonOption],
    load: async () => (await import("../commands/security.ts")).totpOff,
  },
  {
    name: "org create",
    args: "<name>",
    summary: "make an organization with you as its owner; prints its id",
    examples: ['coffer org create "Example"'],
    options: [urlOption, jsonOption],
    load: async () => (await import("../commands/org.ts")).createOrganization,
  },
  {
    name: "org ls",
    summary: "list the organizations you belong to",
    examples: ["coffer org ls"],
    options: personOptions,
    load: async () => (await import("../commands/org.ts")).listOrganizations,
  },
  {
    name: "org adopt",
    args: "<organization>",
    summary: "give an organization a history that another program made without one; compares words with its members",
    examples: ["coffer org adopt Example"],
    options: [...confirmOptions, yesOption, ...personOptions],
    load: async () => (await trustCommands()).adoptOrganization,
  },
  {
    name: "org trust",
    args: "<organization>",
    summary: "trust an organization's history as the service shows it, once its newest signer's words were compared",
    examples: ["coffer org trust Example"],
    options: [...confirmOptions, ...personOptions],
    load: async () => (await trustCommands()).trustOrganization,
  },
  {
    name: "keyring trust",
    summary: "begin again what your devices trust from what the service shows, once words were compared",
    examples: ["coffer keyring trust"],
    options: [yesOption, ...personOptions],
    load: async () => (await trustCommands()).trustKeyring,
  },
];
