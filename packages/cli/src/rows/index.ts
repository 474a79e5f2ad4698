import { type CommandRow, insecureHttpOption, urlOption } from "../command-row.ts";
import { accountRows } from "./account.ts";
import { auditRows } from "./audit.ts";
import { devBillingRows } from "./dev-billing.ts";
import { devRows } from "./dev.ts";
import { doctorRows } from "./doctor.ts";
import { manageRows } from "./manage.ts";
import { peopleRows } from "./people.ts";
import { scanRows } from "./scan.ts";
import { secretRows } from "./secrets.ts";
import { shellRows } from "./shell.ts";
import { siemRows } from "./siem.ts";
import { transferRows } from "./transfer.ts";
import { vaultRows } from "./vaults.ts";

/** Adds the common options to commands that use a service. */
function reaching(rows: readonly CommandRow[]): readonly CommandRow[] {
  return rows.map((row) =>
    row.options.includes(urlOption) ? { ...row, options: [...row.options, insecureHttpOption] } : row,
  );
}

/** Every command, in the groups of `--help`. */
export const groups: readonly (readonly [heading: string, rows: readonly CommandRow[]])[] = [
  ["Secrets, as a person or with --config as a machine:", reaching(secretRows)],
  ["Backups, and other password managers:", reaching(transferRows)],
  ["You:", reaching(accountRows)],
  ["Vaults:", reaching(vaultRows)],
  ["Folders, applications, machines:", reaching(manageRows)],
  ["People:", reaching(peopleRows)],
  ["Audit:", reaching([...auditRows, ...siemRows])],
  ["Secrets in source, without a service:", scanRows],
  ["When something is wrong:", reaching(doctorRows)],
  ["For an installation on Kubernetes:", devRows],
  ["For development:", reaching(devBillingRows)],
  ["Your shell:", shellRows(() => ({ rows: groups.flatMap(([, rows]) => rows), nouns }))],
];

/** The topics of first words that several commands share. */
export const nouns: Readonly<Record<string, string>> = {
  backup: "your own backup, which your recovery key opens",
  vault: "vaults, which hold records",
  record: "records of vaults",
  travel: "travel mode, which hides vaults",
  folder: "folders, which hold secrets",
  app: "applications, which machines belong to",
  token: "one-time tokens, with which a machine gets its identity",
  client: "machines",
  totp: "the second factor",
  org: "organizations",
  keyring: "the key pins that your devices share",
  invite: "invitations into the organization",
  member: "who is in the organization",
  audit: "the audit records of your organization",
  siem: "where the audit records of your organization are delivered",
  console: "the console in a browser",
  dev: "an installation's stores, and trying services out",
};
