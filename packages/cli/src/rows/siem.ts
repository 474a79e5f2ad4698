import { siemFormats } from "@coffer/contract";
import { type CommandRow, personOptions } from "../command-row.ts";

const credentialsOption = {
  flags: "--credentials-file <file>",
  description:
    "read the credentials, a JSON object, from a file (else from stdin): docs/siem.md has those of each format",
};
const webhook = "<endpoint>";

export const siemRows: readonly CommandRow[] = [
  {
    name: "siem create",
    summary: "deliver the audit records of your organization to a SIEM; prints the id of the endpoint",
    examples: [
      `echo '{"token": "…"}' | coffer siem create --format hec --to https://splunk.example:8088 --name Splunk`,
      "coffer siem create --format ecs --to https://elastic.example:9200/coffer-audit/_bulk --credentials-file elastic.json",
    ],
    options: [
      {
        flags: "--format <format>",
        description: "Splunk, Azure Monitor, Datadog, Elastic",
        choices: siemFormats,
        required: true,
      },
      { flags: "--to <address>", description: "the address of the SIEM", required: true },
      { flags: "--name <name>", description: "what people call it" },
      { flags: "--disabled", description: "deliver nothing until it is enabled" },
      credentialsOption,
      ...personOptions,
    ],
    load: async () => (await import("../commands/audit/siem.ts")).createWebhook,
  },
  {
    name: "siem ls",
    summary: "list the SIEM endpoints of your organization, with what became of the last delivery",
    examples: ["coffer siem ls", "coffer siem ls --json"],
    options: personOptions,
    load: async () => (await import("../commands/audit/siem.ts")).listWebhooks,
  },
  {
    name: "siem set",
    args: webhook,
    summary: "change, enable or disable a SIEM endpoint; delivery goes on where it stopped",
    examples: ["coffer siem set Splunk --enable", "coffer siem set Splunk --credentials-file splunk.json"],
    options: [
      { flags: "--name <name>", description: "another name" },
      {
        flags: "--to <address>",
        description: "another address of the SIEM; another scheme, host or port needs the credentials again",
      },
      { flags: "--enable", description: "deliver again" },
      { flags: "--disable", description: "deliver nothing any more" },
      { ...credentialsOption, description: "replace the credentials by those of a file, a JSON object; - is stdin" },
      ...personOptions,
    ],
    load: async () => (await import("../commands/audit/siem.ts")).changeWebhook,
  },
  {
    name: "siem rm",
    args: webhook,
    summary: "delete a SIEM endpoint and its credentials",
    examples: ["coffer siem rm Splunk"],
    options: personOptions,
    load: async () => (await import("../commands/audit/siem.ts")).removeWebhook,
  },
  {
    name: "siem test",
    args: webhook,
    summary: "send one event to a SIEM endpoint; exit 1 when it does not take it",
    examples: ["coffer siem test Splunk"],
    options: personOptions,
    load: async () => (await import("../commands/audit/siem.ts")).testWebhook,
  },
];
