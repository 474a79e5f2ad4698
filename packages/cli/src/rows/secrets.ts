import { recordTypes } from "@coffer/contract";
import {
  cacheOption,
  type CommandRow,
  dataOptions as callerOptions,
  jsonOption,
  unsealedTitlesOption,
} from "../command-row.ts";

const dataOptions = [unsealedTitlesOption, ...callerOptions];
const uri = "coffer://production/database/field/password";

export const secretRows: readonly CommandRow[] = [
  {
    name: "run",
    args: "<command...>",
    summary: "run a command with the secrets that its environment refers to",
    examples: [
      `DB_PASSWORD=${uri} coffer run -- ./server`,
      `DB_PASSWORD=${uri} coffer run --config machine.json -- printenv DB_PASSWORD`,
      "coffer run --env-file .env -- ./server",
      "coffer run --mask -- make deploy",
      "coffer run --watch --config machine.json -- ./server",
      "coffer run --cache machine.cache --config machine.json -- ./server",
    ],
    options: [
      {
        flags: "--env-file <file>",
        description: "set the variables of this file too: values or references; several times for several",
        repeated: true,
      },
      {
        flags: "--mask",
        description: "replace the values in the command's output by *** (default where that is no terminal, and in CI)",
      },
      { flags: "--no-mask", description: "leave the command's output alone" },
      { flags: "--watch", description: "start the command again when a value that it was given has changed" },
      { flags: "--interval <seconds>", description: "with --watch: how often to request changes (60)" },
      { flags: "--signal <signal>", description: "with --watch: send this signal instead of starting it again" },
      {
        flags: "--wait <seconds>",
        description: "how long to wait while the rate limit is exhausted (no limit)",
      },
      cacheOption,
      // It prints nothing of its own.
      ...dataOptions.filter((option) => option !== jsonOption),
    ],
    passThrough: true,
    load: async () => (await import("../commands/secrets/run.ts")).run,
  },
  {
    name: "read",
    args: "<uri>",
    summary: "print the value of one field",
    examples: [`coffer read ${uri}`, `coffer read --config machine.json --no-newline ${uri} > password`],
    options: [
      { flags: "--no-newline", description: "print the value alone, without a line break after it" },
      cacheOption,
      ...dataOptions,
    ],
    load: async () => (await import("../commands/secrets/read.ts")).read,
  },
  {
    name: "get",
    args: "<secret>",
    summary: "print a secret with all its fields, by uid, title or notation",
    examples: [
      "coffer get Zm9vYmFyYmF6cXV4MTIzNA",
      "coffer get database",
      "coffer get coffer://production/database --json",
    ],
    options: dataOptions,
    load: async () => (await import("../commands/secrets/get.ts")).get,
  },
  {
    name: "ls",
    args: "[folder]",
    summary: "list secrets, of one folder or of all, without their values",
    examples: ["coffer ls", "coffer ls production --json"],
    options: dataOptions,
    load: async () => (await import("../commands/secrets/list.ts")).list,
  },
  {
    name: "search",
    args: "<text>",
    summary: "list the secrets whose title contains a text",
    examples: ["coffer search database"],
    options: dataOptions,
    load: async () => (await import("../commands/secrets/list.ts")).search,
  },
  {
    name: "env",
    summary: "print the variables that refer to secrets with their values, or all fields of a folder",
    examples: [
      `DB_PASSWORD=${uri} coffer env`,
      'set -a; eval "$(coffer env --config machine.json)"; set +a',
      "coffer env --folder production > .env",
    ],
    options: [
      { flags: "--folder <folder>", description: "every field of this folder, as <TITLE>_<FIELD>" },
      { flags: "--prefix <prefix>", description: "with --folder: what stands before every name" },
      {
        flags: "--allow-name <name>",
        description: "with --folder: set this variable although it changes how programs load or connect",
        repeated: true,
      },
      cacheOption,
      ...dataOptions,
    ],
    load: async () => (await import("../commands/secrets/env.ts")).env,
  },
  {
    name: "inject",
    summary: "fill the {{ coffer://… }} of a template",
    examples: ["coffer inject -i config.template.yaml -o config.yaml", "coffer inject < template | psql"],
    options: [
      { flags: "-i, --in <template>", description: "the template (else stdin)" },
      { flags: "-o, --out <file>", description: "the file to write, mode 0600, all of it or nothing (else stdout)" },
      cacheOption,
      ...dataOptions,
    ],
    load: async () => (await import("../commands/secrets/inject.ts")).inject,
  },
  {
    name: "set",
    args: "<uri>",
    summary: "write one field, from stdin; makes the secret when the folder has none of that title",
    examples: [
      `printf 's3cret' | coffer set ${uri}`,
      "coffer set --type ssh_key --file id_ed25519 coffer://production/deploy/field/private_key",
      `printf 's3cret' | coffer set --expires 90d ${uri}`,
      `coffer set ${uri}  (prompts for the value)`,
    ],
    options: [
      { flags: "--type <type>", description: "type of a secret that is made (api_credential)", choices: recordTypes },
      { flags: "--file <file>", description: "take the value from a file, byte for byte" },
      {
        flags: "--expires <when>",
        description: "when machines no longer get the secret: 24h, 90d, 2030-01-31, a time, or never (unchanged)",
      },
      { flags: "--allow-empty", description: "write an empty value too, which is refused otherwise" },
      ...dataOptions,
    ],
    load: async () => (await import("../commands/secrets/set.ts")).set,
  },
  {
    name: "rm",
    args: "<secret...>",
    summary:
      "remove whole secrets by uid, title or notation, or one field by its notation (a secret goes with its last)",
    examples: [`coffer rm ${uri}`, "coffer rm coffer://production/database", "coffer rm Zm9vYmFyYmF6cXV4MTIzNA"],
    options: dataOptions,
    load: async () => (await import("../commands/secrets/remove.ts")).remove,
  },
];
