import { vaultTypes } from "@coffer/contract";
import {
  type CommandRow,
  confirmOptions,
  jsonOption,
  type OptionRow,
  otpOptions,
  personOptions,
  urlOption,
  yesOption,
} from "../command-row.ts";
import { permissionOption } from "./permission-option.ts";

const vaultCommands = () => import("../commands/vaults/vault.ts");
const recordCommands = () => import("../commands/vaults/record.ts");
const trustCommands = () => import("../commands/people/trust.ts");
const travelCommands = () => import("../commands/account/travel.ts");

const record = "<vault> <record>";
const valueFile: OptionRow = { flags: "--file <file>", description: "read it from a file instead of stdin" };

export const vaultRows: readonly CommandRow[] = [
  {
    name: "vault create",
    args: "<name>",
    summary: "make a vault with a key of its own; prints its id",
    examples: ["coffer vault create Private", "coffer vault create Team --type shared"],
    options: [
      {
        flags: "--type <type>",
        description: "only a shared vault can be shared",
        choices: vaultTypes,
        preset: "personal",
      },
      ...personOptions,
    ],
    load: async () => (await vaultCommands()).createVault,
  },
  {
    name: "vault ls",
    summary: "list your vaults, of every organization or of that of --org",
    examples: ["coffer vault ls", "coffer vault ls --org Example --json"],
    options: personOptions,
    load: async () => (await vaultCommands()).listVaults,
  },
  {
    name: "vault set",
    args: "<vault>",
    summary: "change a vault's (name or id) name, or whether it stays visible while you travel",
    examples: ["coffer vault set Private --safe-for-travel yes", "coffer vault set Team --name Platform"],
    options: [
      { flags: "--name <name>", description: "its name from now on" },
      { flags: "--safe-for-travel <answer>", description: "whether travel mode leaves it", choices: ["yes", "no"] },
      ...personOptions,
    ],
    load: async () => (await vaultCommands()).setVault,
  },
  {
    name: "vault rm",
    args: "<vault>",
    summary: "remove a vault for ever",
    examples: ["coffer vault rm Old", "coffer vault rm Old --force"],
    options: [
      { flags: "--force", description: "also when it holds records: they are removed with it" },
      ...personOptions,
    ],
    load: async () => (await vaultCommands()).removeVault,
  },
  {
    name: "vault share",
    args: "<vault> <member>",
    summary: "give a member a vault with its key, or change the permission",
    examples: ["coffer vault share Team bob@example.com", "coffer vault share Team bob@example.com --permission write"],
    options: [permissionOption, ...personOptions],
    load: async () => (await vaultCommands()).shareVault,
  },
  {
    name: "vault unshare",
    args: "<vault> <member>",
    summary: "revoke a member's access to a vault, and give it a new key",
    examples: ["coffer vault unshare Team bob@example.com"],
    options: personOptions,
    load: async () => (await vaultCommands()).unshareVault,
  },
  {
    name: "vault members",
    args: "<vault>",
    summary: "list who holds a vault's key",
    examples: ["coffer vault members Team"],
    options: personOptions,
    load: async () => (await vaultCommands()).listVaultMembers,
  },
  {
    name: "vault rotate",
    args: "<vault>",
    summary: "give a shared vault a new key, for the members that its history confirms",
    examples: ["coffer vault rotate Team"],
    options: personOptions,
    load: async () => (await vaultCommands()).rotateVault,
  },
  {
    name: "vault accept",
    args: "<id>",
    summary: "accept a vault that another member shared with you",
    examples: ["coffer vault accept 0190c0de-…"],
    options: [yesOption, ...personOptions],
    load: async () => (await trustCommands()).acceptVault,
  },
  {
    name: "vault adopt",
    args: "<id>",
    summary: "give a shared vault a history that another program made without one",
    examples: ["coffer vault adopt 0190c0de-…"],
    options: [yesOption, ...personOptions],
    load: async () => (await trustCommands()).adoptVault,
  },
  {
    name: "vault trust",
    args: "<id>",
    summary: "trust a shared vault's history as the service shows it, once its newest signer's words were compared",
    examples: ["coffer vault trust 0190c0de-…"],
    options: [...confirmOptions, ...personOptions],
    load: async () => (await trustCommands()).trustVault,
  },
  {
    name: "record create",
    args: "<vault>",
    summary: "make a record of the fields on stdin, as JSON; prints its id",
    examples: [
      `printf '{"name": "Example", "username": "you", "password": "s3cret"}' | coffer record create Private`,
      "coffer record create Private --type secure_note --file note.json",
    ],
    options: [
      { flags: "--type <type>", description: "login, secure_note, card, … or one of your own", preset: "login" },
      valueFile,
      ...personOptions,
    ],
    load: async () => (await recordCommands()).createRecord,
  },
  {
    name: "record ls",
    args: "<vault>",
    summary: "list the records of a vault, without their values",
    examples: ["coffer record ls Private", "coffer record ls Private --type login --json"],
    options: [{ flags: "--type <type>", description: "only of this type" }, ...personOptions],
    load: async () => (await recordCommands()).listRecords,
  },
  {
    name: "record get",
    args: `${record} [field]`,
    summary: "print a record (name or id) with all its fields, or the value of one field",
    examples: ["coffer record get Private Example", "coffer record get Private Example password"],
    options: personOptions,
    load: async () => (await recordCommands()).getRecord,
  },
  {
    name: "record set",
    args: `${record} [field]`,
    summary: "write one field from stdin and leave the others, or all fields as JSON",
    examples: [
      "printf 's3cret' | coffer record set Private Example password",
      "coffer record set Private Example < example.json",
    ],
    options: [
      valueFile,
      { flags: "--allow-empty", description: "write an empty value too, which is refused otherwise" },
      {
        flags: "--unchanged-since <time>",
        description: "only when the record was not changed after its updated_at was this; else exit 1",
      },
      ...personOptions,
    ],
    load: async () => (await recordCommands()).setRecord,
  },
  {
    name: "record rm",
    args: record,
    summary: "remove a record for ever",
    examples: ["coffer record rm Private Example"],
    options: personOptions,
    load: async () => (await recordCommands()).removeRecord,
  },
  {
    name: "sync",
    summary: "get what has changed in your vaults, a line for each change, and with --watch go on",
    examples: [
      "coffer sync --store vaults.sealed",
      "coffer sync --watch",
      "coffer sync --watch --json --show-values | ./react.sh",
    ],
    options: [
      { flags: "--watch", description: "stay connected and print changes when they happen" },
      { flags: "--store <file>", description: "store the vaults in this file, sealed, and start from it" },
      { flags: "--show-values", description: "print the values of records too" },
      urlOption,
      { ...jsonOption, description: "print a line of JSON for each change" },
    ],
    load: async () => (await import("../commands/vaults/sync.ts")).sync,
  },
  {
    name: "travel status",
    summary: "say whether you travel, and since when that is so",
    examples: ["coffer travel status"],
    options: [urlOption, jsonOption],
    load: async () => (await travelCommands()).travelStatus,
  },
  {
    name: "travel on",
    summary: "hide every vault that is not safe for travel, on all your devices, without a trace",
    examples: ["coffer travel on", "coffer travel on --member bob@example.com"],
    options: [{ flags: "--member <member>", description: "for a member, as an administrator" }, ...personOptions],
    load: async () => (await travelCommands()).travelOn,
  },
  {
    name: "travel off",
    summary: "end it, with your password: the vaults are there again",
    examples: ["coffer travel off", "coffer travel off --member bob@example.com"],
    options: [
      { flags: "--member <member>", description: "for a member, as an administrator, without a password" },
      { flags: "--password-file <file>", description: "read the password from a file's first line" },
      ...otpOptions,
      ...personOptions,
    ],
    load: async () => (await travelCommands()).travelOff,
  },
];
