import { isUuid, type PersonClient, type Vault, type VaultRecord } from "@coffer/sdk";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { readNamedFile, readStdin, withoutLastBreak } from "../../input/inputs.ts";
import { stdinIsTerminal } from "../../input/stdin-is-terminal.ts";
import { promptHidden } from "../../input/terminal.ts";
import {
  print,
  printExact,
  printJson,
  printNotice,
  printTable,
  shortTime,
  visible,
  visibleLines,
} from "../../output/output.ts";
import { withVault } from "../../service/pick-vault.ts";
import { severalHave } from "../../service/pick.ts";

interface CreateOptions extends PersonOptions {
  type: string;
  file?: string;
}

/** `coffer record create <vault>`: creates a record from the fields on stdin and prints its id. */
export async function createRecord({ args: [vaultName = ""], options, env }: Call<CreateOptions>): Promise<void> {
  const { person, vault } = await withVault(options, env, vaultName);
  const fields = await readFields(options.file);
  const record = await person.records.create(vault.id, { type: options.type, fields });
  printNotice(`made ${nameOf(record)} in ${vault.name}`);
  if (options.json === true) printJson(recordJson(record));
  else print(record.id);
}

interface ListOptions extends PersonOptions {
  type?: string;
}

/** `coffer record ls <vault>`: the records of a vault, without their values. */
export async function listRecords({ args: [vaultName = ""], options, env }: Call<ListOptions>): Promise<void> {
  const { person, vault } = await withVault(options, env, vaultName);
  const records = await person.records.list(vault.id, { type: options.type });
  records.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  if (options.json === true) printJson(records.map(recordJson));
  else
    printTable(
      ["ID", "NAME", "TYPE", "FIELDS", "UPDATED"],
      records.map((record) => [
        record.id,
        nameOf(record),
        record.type,
        Object.keys(record.fields).join(","),
        shortTime(record.updated_at),
      ]),
    );
}

/**
 * `coffer record get <vault> <record> [field]`: one record with all its fields, or the value of
 * one.
 */
export async function getRecord({ args: [vaultName = "", wanted = "", field], options, env }: Call<PersonOptions>) {
  const { person, vault } = await withVault(options, env, vaultName);
  const record = await pickRecord(person, vault, wanted);
  if (field !== undefined && !Object.hasOwn(record.fields, field))
    throw new Failure(exitCodes.notFound, `${visible(nameOf(record))} has no field ${field}`);
  // A terminal gets the value escaped; a file or program gets it unchanged.
  const shown = (text: string): string => (process.stdout.isTTY ? visibleLines(text) : text);
  if (options.json === true) {
    const fields = field === undefined ? record.fields : { [field]: record.fields[field] };
    printJson({ ...recordJson(record), fields });
  } else if (field !== undefined) printExact(shown(record.fields[field] ?? ""));
  else
    for (const [name, value] of [["id", record.id], ["type", record.type], ...Object.entries(record.fields)])
      printExact(`${visible(name ?? "")}: ${shown(value ?? "")}`);
}

interface SetOptions extends PersonOptions {
  file?: string;
  allowEmpty?: boolean;
  unchangedSince?: string;
}

/** `coffer record set <vault> <record> [field]`: writes one field, or all. */
export async function setRecord({ args: [vaultName = "", wanted = "", field], options, env }: Call<SetOptions>) {
  const { person, vault } = await withVault(options, env, vaultName);
  const { unchangedSince } = options;
  const record = await pickRecord(person, vault, wanted);
  let changed: VaultRecord;
  if (field === undefined) {
    const { type, id } = record;
    changed = await person.records.update(
      vault.id,
      id,
      { type, fields: await readFields(options.file) },
      { unchangedSince },
    );
  } else {
    const value = await readValue(options.file);
    if (value === "" && options.allowEmpty !== true)
      throw usage("the value is empty, nothing was written: if that is what you mean, add --allow-empty");
    changed =
      unchangedSince === undefined
        ? await person.records.change(vault.id, record.id, ({ fields }) => ({ fields: { ...fields, [field]: value } }))
        : await person.records.update(
            vault.id,
            record.id,
            { type: record.type, fields: { ...record.fields, [field]: value } },
            { unchangedSince },
          );
  }
  printNotice(`changed ${nameOf(changed)} in ${vault.name}${field === undefined ? "" : `: ${field}`}`);
  if (options.json === true) printJson(recordJson(changed));
}

/** `coffer record rm <vault> <record>`: removes a record. */
export async function removeRecord({ args: [vaultName = "", wanted = ""], options, env }: Call<PersonOptions>) {
  const { person, vault } = await withVault(options, env, vaultName);
  const record = await pickRecord(person, vault, wanted);
  await person.records.remove(vault.id, record.id);
  printNotice(`removed ${nameOf(record)} from ${vault.name}`);
}

/**
 * The record with that id or exact name. Throws Failure: not found, or usage when several have the
 * name.
 */
async function pickRecord(person: PersonClient, vault: Vault, wanted: string): Promise<VaultRecord> {
  if (isUuid(wanted)) return person.records.get(vault.id, wanted.toLowerCase());
  const [first, ...others] = (await person.records.list(vault.id)).filter(({ fields }) => fields["name"] === wanted);
  if (first === undefined)
    throw new Failure(exitCodes.notFound, `there is no record ${wanted} in ${visible(vault.name)}`);
  if (others.length > 0) throw severalHave(wanted, `record of ${visible(vault.name)}`, [first, ...others]);
  return first;
}

/** A record in lists, without its secret values, with the names of the interface. */
function recordJson(record: VaultRecord): Record<string, unknown> {
  const { id, vault_id, type, fields, created_at, updated_at } = record;
  return { id, vault_id, type, name: nameOf(record), field_names: Object.keys(fields), created_at, updated_at };
}

function nameOf({ id, fields }: Pick<VaultRecord, "id" | "fields">): string {
  return fields["name"] ?? id;
}

/** All fields of a record, as JSON. Throws Failure (usage), never with a quote of the input. */
async function readFields(file: string | undefined): Promise<Record<string, string>> {
  if (file === undefined && stdinIsTerminal())
    throw usage('give the fields as JSON on stdin or with --file, such as {"name": "Example", "password": "…"}');
  const text = file === undefined ? await readStdin() : await readNamedFile(file);
  let fields: unknown;
  try {
    // Editors on Windows start a file with a byte order mark.
    fields = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw usage("the fields are not JSON");
  }
  if (typeof fields !== "object" || fields === null || Array.isArray(fields))
    throw usage("the fields are a JSON object: name and value of each");
  const wrong = Object.entries(fields).find(([, value]) => typeof value !== "string");
  if (wrong !== undefined) throw usage("the value of each field is a text in quotes; one is not");
  return fields as Record<string, string>; // just checked
}

async function readValue(file: string | undefined): Promise<string> {
  if (file !== undefined) return readNamedFile(file);
  if (!stdinIsTerminal()) return withoutLastBreak(await readStdin());
  return promptHidden(["Value"], "give the value on stdin or with --file")[0] ?? "";
}
