import type { PersonClient, SiemFormat, SiemWebhookView } from "@coffer/sdk";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { readNamedFile, readStdin } from "../../input/inputs.ts";
import { stdinIsTerminal } from "../../input/stdin-is-terminal.ts";
import { print, printJson, printList, printNotice, shortTime, visible } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";
import { pick } from "../../service/pick.ts";

interface WebhookOptions extends PersonOptions {
  format?: SiemFormat;
  name?: string;
  to?: string;
  disabled?: boolean;
  enable?: boolean;
  disable?: boolean;
  credentialsFile?: string;
}

/** `coffer siem create`: creates a SIEM endpoint and prints its id. */
export async function createWebhook({ options, env }: Call<WebhookOptions>): Promise<void> {
  const { format = "hec", name, to = "", disabled, credentialsFile } = options; // commander refuses a call without them
  if (credentialsFile === undefined && stdinIsTerminal())
    throw usage("give the credentials, a JSON object, on stdin or with --credentials-file");
  const credentials = await readCredentials(credentialsFile ?? "-");
  const { siem } = await asPerson(options, env);
  const made = await siem.create({ format, name, url: to, credentials, enabled: disabled !== true });
  printNotice(`audit records are delivered to ${visible(made.url)}: coffer siem test ${made.id} sends an event`);
  if (options.json === true) printJson(made);
  else print(made.id);
}

/** `coffer siem ls`: the organization's SIEM endpoints. */
export async function listWebhooks({ options, env }: Call<PersonOptions>): Promise<void> {
  const webhooks = await (await asPerson(options, env)).siem.list();
  printList(webhooks, options, ["ID", "NAME", "FORMAT", "ADDRESS", "ENABLED", "LAST DELIVERY"], (each) => [
    each.id,
    each.name ?? "",
    each.format,
    each.url,
    each.enabled ? "yes" : "no",
    lastDelivery(each),
  ]);
}

/** `coffer siem set <endpoint>`: changes a SIEM endpoint. */
export async function changeWebhook({ args: [nameOrId = ""], options, env }: Call<WebhookOptions>): Promise<void> {
  const { name, to: url, enable, disable, credentialsFile } = options;
  if (enable === true && disable === true) throw usage("--enable and --disable exclude each other");
  const enabled = enable === true ? true : disable === true ? false : undefined;
  const credentials = credentialsFile === undefined ? undefined : await readCredentials(credentialsFile);
  if ([name, url, enabled, credentials].every((each) => each === undefined))
    throw usage("say what to change: --name, --to, --enable, --disable or --credentials-file");
  const { siem } = await asPerson(options, env);
  const { id } = await pickWebhook(siem, nameOrId);
  const changed = await siem.update(id, {
    ...(name === undefined ? {} : { name }),
    ...(url === undefined ? {} : { url }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(credentials === undefined ? {} : { credentials }),
  });
  printNotice(`changed the SIEM endpoint ${labelOf(changed)}`);
  if (options.json === true) printJson(changed);
}

/** `coffer siem rm <endpoint>`: deletes a SIEM endpoint. */
export async function removeWebhook({ args: [nameOrId = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const { siem } = await asPerson(options, env);
  const webhook = await pickWebhook(siem, nameOrId);
  await siem.remove(webhook.id);
  printNotice(`deleted the SIEM endpoint ${labelOf(webhook)} and its credentials`);
}

/** `coffer siem test <endpoint>`: sends one event to a SIEM endpoint. */
export async function testWebhook({ args: [nameOrId = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const { siem } = await asPerson(options, env);
  const webhook = await pickWebhook(siem, nameOrId);
  const said = await siem.test(webhook.id);
  if (options.json === true) printJson(said);
  if (said.ok) printNotice(`${labelOf(webhook)} took the event`);
  else throw new Failure(exitCodes.failure, `${labelOf(webhook)} did not take the event: ${visible(said.error ?? "")}`);
}

type Siem = PersonClient["siem"];
type Webhook = Pick<SiemWebhookView, "id" | "name">;

async function pickWebhook(siem: Siem, nameOrId: string): Promise<Webhook & { name: string }> {
  const webhooks = await siem.list();
  return pick(
    webhooks.map(({ id, name }) => ({ id, name: name ?? "" })),
    nameOrId,
    "SIEM endpoint",
  );
}

function labelOf({ id, name }: Webhook): string {
  return visible(name === null || name === "" ? id : name);
}

function lastDelivery({ last_delivery: last }: SiemWebhookView): string {
  if (last === null) return "none yet";
  return `${shortTime(last.at)} ${last.error ?? "delivered"}`;
}

/** The credentials in a file, or on stdin for `-`. Messages never repeat them. */
async function readCredentials(file: string): Promise<Record<string, string>> {
  const text = file === "-" ? await readStdin() : await readNamedFile(file);
  const problem = "the credentials must be a JSON object of texts: docs/siem.md has those of each format";
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usage(problem);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw usage(problem);
  if (!Object.values(value).every((each) => typeof each === "string")) throw usage(problem);
  return value as Record<string, string>; // just checked
}
