import { dataOptions, jsonOption, personOptions, urlOption } from "../command-row.ts";
import type { CommandRow } from "../command-row.ts";

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
    options: [email, passwordFile, urlOption, jsonOption],
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
    summary: "who the service says you are, as a person or a machine",
    examples: ["coffer whoami", "coffer whoami --config machine.json --json"],
    options: dataOptions,
    load: async () => (await import("../commands/whoami.ts")).whoami,
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
];
