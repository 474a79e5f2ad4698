import { jsonOption, personOptions, urlOption } from "../command-row.ts";
import type { CommandRow, OptionRow } from "../command-row.ts";

const ofApp: OptionRow = { flags: "--app <app>", description: "only of this application (name or id)" };

/** How a public key that was not seen before is confirmed. */
const confirmOptions: readonly OptionRow[] = [
  {
    flags: "--fingerprint <fingerprint>",
    description: "a fingerprint (hex or words) that you have compared with its holder; several times for several",
    repeated: true,
  },
  {
    flags: "--trust-new",
    description: "take public keys that were not seen before; changed ones are refused all the same",
  },
];

export const manageRows: readonly CommandRow[] = [
  {
    name: "folder create",
    args: "<name>",
    summary: "make a folder with a key of its own; prints its id",
    examples: ["coffer folder create production"],
    options: personOptions,
    load: async () => (await import("../commands/folder.ts")).createFolder,
  },
  {
    name: "folder ls",
    summary: "list the folders you may use",
    examples: ["coffer folder ls", "coffer folder ls --json"],
    options: personOptions,
    load: async () => (await import("../commands/folder.ts")).listFolders,
  },
  {
    name: "folder rm",
    args: "<folder>",
    summary: "remove a folder (name or id) for ever",
    examples: ["coffer folder rm staging", "coffer folder rm staging --force"],
    options: [
      { flags: "--force", description: "also when it holds secrets: they are removed with it" },
      ...personOptions,
    ],
    load: async () => (await import("../commands/folder.ts")).removeFolder,
  },
  {
    name: "folder share",
    args: "<folder> <member>",
    summary: "give a member a folder with its key, or change the permission",
    examples: [
      "coffer folder share production bob@example.com",
      "coffer folder share production bob@example.com --permission write",
    ],
    options: [
      {
        flags: "--permission <permission>",
        description: "what the member may do",
        choices: ["read", "write", "manage"],
        preset: "read",
      },
      ...confirmOptions,
      ...personOptions,
    ],
    load: async () => (await import("../commands/share.ts")).shareFolder,
  },
  {
    name: "folder unshare",
    args: "<folder> <member>",
    summary: "take a folder away from a member",
    examples: ["coffer folder unshare production bob@example.com"],
    options: personOptions,
    load: async () => (await import("../commands/share.ts")).unshareFolder,
  },
  {
    name: "folder holders",
    args: "<folder>",
    summary: "list who holds a folder's key, people and machines",
    examples: ["coffer folder holders production"],
    options: personOptions,
    load: async () => (await import("../commands/share.ts")).listHolders,
  },
  {
    name: "folder rotate",
    args: "<folder>",
    summary: "give a folder a new key, for its present holders alone",
    examples: ["coffer folder rotate production", "coffer folder rotate production --trust-new"],
    options: [...confirmOptions, ...personOptions],
    load: async () => (await import("../commands/share.ts")).rotateFolder,
  },
  {
    name: "app create",
    args: "<name>",
    summary: "make an application, which machines belong to; prints its id",
    examples: ["coffer app create api", 'coffer app create api --description "the public API"'],
    options: [{ flags: "--description <text>", description: "what it is" }, ...personOptions],
    load: async () => (await import("../commands/app.ts")).createApplication,
  },
  {
    name: "app ls",
    summary: "list the applications",
    examples: ["coffer app ls"],
    options: personOptions,
    load: async () => (await import("../commands/app.ts")).listApplications,
  },
  {
    name: "app rm",
    args: "<app>",
    summary: "remove an application (name or id) and cut off its machines",
    examples: ["coffer app rm api"],
    options: personOptions,
    load: async () => (await import("../commands/app.ts")).removeApplication,
  },
  {
    name: "token create",
    summary: "make a one-time token for a machine; prints it once",
    examples: [
      "coffer token create --app api --folder production:read",
      "coffer token create --app deploy --folder production:write --expires 1h --cidr 10.0.0.0/8",
    ],
    options: [
      { flags: "--app <app>", description: "the application the machine belongs to (name or id)", required: true },
      {
        flags: "--folder <folder:permission>",
        description: "a folder it may use, with :read or :write; several times for several",
        required: true,
        repeated: true,
      },
      { flags: "--name <name>", description: "a name for the token and the machine (the application's)" },
      { flags: "--expires <time>", description: "until when it can be spent: 90m, 24h (the default), at most 7d" },
      { flags: "--client-expires <time>", description: "until when the machine may work: 30d, a date, or ISO 8601" },
      {
        flags: "--cidr <network>",
        description: "the machine may work from this network only; several times for several",
        repeated: true,
      },
      ...personOptions,
    ],
    load: async () => (await import("../commands/token.ts")).createToken,
  },
  {
    name: "token ls",
    summary: "list one-time tokens",
    examples: ["coffer token ls", "coffer token ls --app api"],
    options: [ofApp, ...personOptions],
    load: async () => (await import("../commands/token.ts")).listTokens,
  },
  {
    name: "token rm",
    args: "<id>",
    summary: "revoke a one-time token that was not spent",
    examples: ["coffer token rm 0190c0de-…"],
    options: [ofApp, ...personOptions],
    load: async () => (await import("../commands/token.ts")).removeToken,
  },
  {
    name: "bootstrap",
    summary: "on the machine: spend a one-time token and write the machine's configuration; prints its client id",
    examples: [
      "coffer bootstrap --config machine.json  (asks for the token)",
      "COFFER_TOKEN=cft1_… coffer bootstrap --config machine.json --url https://coffer.example.com",
      "coffer bootstrap --config machine.json < token",
    ],
    options: [
      { flags: "--config <file>", description: "the file to write, mode 0600 (else COFFER_CONFIG)" },
      urlOption,
      jsonOption,
    ],
    load: async () => (await import("../commands/bootstrap.ts")).bootstrap,
  },
  {
    name: "client ls",
    summary: "list machines",
    examples: ["coffer client ls", "coffer client ls --app api --json"],
    options: [ofApp, ...personOptions],
    load: async () => (await import("../commands/client.ts")).listClients,
  },
  {
    name: "client rm",
    args: "<client-id>",
    summary: "cut a machine off, within a second",
    examples: ["coffer client rm 0190c0de-…"],
    options: [ofApp, ...personOptions],
    load: async () => (await import("../commands/client.ts")).removeClient,
  },
];
