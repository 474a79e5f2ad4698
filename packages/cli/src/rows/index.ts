import type { CommandRow } from "../command-row.ts";
import { accountRows } from "./account.ts";
import { auditRows } from "./audit.ts";
import { manageRows } from "./manage.ts";
import { peopleRows } from "./people.ts";
import { secretRows } from "./secrets.ts";
import { shellRows } from "./shell.ts";

/** Every command, in the groups in which `--help` shows them. */
export const groups: readonly (readonly [heading: string, rows: readonly CommandRow[]])[] = [
  ["Secrets, as a person or with --config as a machine:", secretRows],
  ["You:", accountRows],
  ["Folders, applications, machines:", manageRows],
  ["People:", peopleRows],
  ["Audit:", auditRows],
  ["Your shell:", shellRows(() => ({ rows: groups.flatMap(([, rows]) => rows), nouns }))],
];

/** What a command's first word is about, where several share it. */
export const nouns: Readonly<Record<string, string>> = {
  folder: "folders, which hold secrets",
  app: "applications, which machines belong to",
  token: "one-time tokens, with which a machine gets its identity",
  client: "machines",
  totp: "the second factor",
  org: "organizations",
  invite: "invitations into the organization",
  member: "who is in the organization",
  audit: "the audit records of your organization",
};
