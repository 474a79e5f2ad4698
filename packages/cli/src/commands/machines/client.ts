import { isUuid, type MachineView, type PersonClient } from "@coffer/sdk";
import type { Call } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { withFingerprints } from "../../output/fingerprint-lines.ts";
import { printJson, printList, printNotice, shortTime, visible } from "../../output/output.ts";
import { quoteValue } from "../../output/quote-value.ts";
import { type ApplicationOptions, ofApplications, type Owned } from "../../service/of-applications.ts";
import { severalHave } from "../../service/pick.ts";
import { compareWords, type ConfirmOptions } from "../../trust/compare-words.ts";
import { printClosed } from "./token.ts";

/**
 * `coffer client ls`: the machines of an application, or of all, with the words of their keys as
 * the service shows them.
 */
export async function listClients({ options, env }: Call<ApplicationOptions>): Promise<void> {
  const { found } = await allClients(options, env);
  printList(
    await withFingerprints(found),
    options,
    ["CLIENT ID", "APPLICATION", "NAME", "STATUS", "LAST USED", "FROM", "WORDS"],
    ({ client_id, application, name, status, last_used_at, last_ip, fingerprint }) => [
      client_id,
      application,
      name,
      status,
      shortTime(last_used_at),
      last_ip ?? "",
      fingerprint?.words ?? "no key",
    ],
  );
}

/** `coffer client rm <machine>`: revokes a machine, which takes effect within a second. */
export async function removeClient({ args: [machine = ""], options, env }: Call<ApplicationOptions>): Promise<void> {
  const { person, found } = await allClients(options, env);
  const client = oneOf(found, machine);
  const closed = await person.machines.remove(client.application_id, client.client_id);
  printNotice(`revoked ${machineOf(client)}`);
  printClosed(closed);
  const who = `client:${client.client_id}`;
  const isNamed = (await printPendingRotations(person, who, machineOf(client))) > 0;
  if (!isNamed && (await person.named()).length > 0)
    printNotice("no history that you use names it: if its token was lost, close that too, with `coffer token rm <id>`");
}

interface ShareOptions extends ApplicationOptions, ConfirmOptions {
  permission: "read" | "write";
}

/**
 * `coffer client share <machine> <folder>`: gives a machine the folder with its key, or changes the
 * permission.
 */
export async function shareWithClient({ args: [machine = "", folder = ""], options, env }: Call<ShareOptions>) {
  const { person, found } = await allClients(options, env);
  const { id: folderId, name } = await person.folders.find(folder);
  const client = oneById(found, machine);
  const request = { clientId: client.client_id, folderId, permission: options.permission };
  const undone = `${name} was not shared with it`;
  const grant = await person.machines.share(client.application_id, request, compareWords(options, undone));
  printNotice(`${machineOf(client)} may ${grant.permission} in ${name}`);
  if (options.json === true) printJson(grant);
}

/** `coffer client unshare <machine> <folder>`: revokes a machine's grant on the folder. */
export async function unshareFromClient({ args: [machine = "", folder = ""], options, env }: Call<ApplicationOptions>) {
  const { person, found } = await allClients(options, env);
  const { id: folderId, name } = await person.folders.find(folder);
  const client = oneOf(found, machine);
  await person.machines.unshare(client.application_id, client.client_id, folderId);
  printNotice(`revoked access of ${machineOf(client)} to ${name}; it may still have the key`);
  printNotice(
    `the history of ${name} still names it: \`coffer folder rotate ${quoteValue(name)}\` ends that and makes a new key`,
  );
}

/**
 * `coffer client confirm <machine>`: after the words were compared, names a machine in the
 * histories of its folders.
 */
export async function confirmClient({ args: [machine = ""], options, env }: Call<ApplicationOptions & ConfirmOptions>) {
  const { person, found } = await allClients(options, env);
  const client = oneById(found, machine);
  const confirm = compareWords(options, "no folder's history names it, and it has no key");
  const confirmed = await person.machines.confirm(client.application_id, client.client_id, confirm);
  if (confirmed.length === 0)
    printNotice(`the histories of the folders that you manage name ${machineOf(client)} already, where it has access`);
  for (const { name } of confirmed) printNotice(`${machineOf(client)} is confirmed in ${name}, and has its key`);
  if (options.json === true) printJson(confirmed);
}

/** Names the folders and vaults that a manager must rotate after a revocation. Returns their number. */
async function printPendingRotations(person: PersonClient, who: string, what: string): Promise<number> {
  const named = await person.stillNaming(who);
  for (const { kind, name } of named)
    printNotice(`the history of ${name} still names ${what}: \`coffer ${kind} rotate ${quoteValue(name)}\` ends that`);
  return named.length;
}

/** A machine in a sentence. The service chooses its name; the client id identifies it. */
function machineOf({ name, client_id }: { name: string; client_id: string }): string {
  return `the machine ${name} (${client_id})`;
}

type Machine = Owned<MachineView>;

/**
 * The active machine with that client id or name. Throws Failure: not found, or usage when several
 * have the name.
 */
function oneOf(found: readonly Machine[], wanted: string): Machine {
  const matches = candidates(found, wanted);
  const [first, ...others] = matches;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined) throw new Failure(exitCodes.notFound, `there is no machine ${wanted} that you may see`);
  throw severalHave(wanted, "machine", matches.map(choice));
}

/**
 * The machine with that client id, for commands that seal a key to it. The service chooses names,
 * and could select another machine with one. Throws Failure: not found, or usage for a name, with
 * the client ids that have it.
 */
function oneById(found: readonly Machine[], wanted: string): Machine {
  const machine = oneOf(found, isUuid(wanted) ? wanted : (candidates(found, wanted)[0]?.client_id ?? wanted));
  if (isUuid(wanted)) return machine;
  const ids = candidates(found, wanted).map((one) => choice(one).id);
  throw usage(
    `a key is sealed to a machine by its client id, not by its name: name one of\n  ${ids.map(visible).join("\n  ")}`,
  );
}

/** A text in the form of an id is never a name. */
function candidates(found: readonly Machine[], wanted: string): Machine[] {
  const text = wanted.toLowerCase();
  if (isUuid(text)) return found.filter(({ client_id }) => client_id === text);
  return found.filter(({ name, status }) => name.toLowerCase() === text && status === "active");
}

function choice({ client_id, application, created_at }: Machine): { id: string } {
  return { id: `${client_id} (${application}, since ${shortTime(created_at)})` };
}

function allClients(options: ApplicationOptions, env: NodeJS.ProcessEnv) {
  return ofApplications(options, env, (person, id) => person.machines.list(id));
}
