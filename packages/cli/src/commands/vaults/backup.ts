import { createHash } from "node:crypto";
import { lstat, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { writeExport } from "@coffer/import";
import type { PersonClient } from "@coffer/sdk";
import { type BackupItem, checkRecoverySeal, openBackup, type OpenedBackup, sealBackup } from "@coffer/sdk/backup";
import { writePrivateFile } from "@coffer/sdk/node";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { withHeldSignals } from "../../files/held-signals.ts";
import { readNamedFile, readRecoveryKey } from "../../input/inputs.ts";
import { countOf, printJson, printNotice, printTable, visible } from "../../output/output.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { changeProfile, readProfile } from "../../profile/profile.ts";
import { asMember, sessionAt } from "../../service/access.ts";
import { vaultsOf } from "../../service/pick-vault.ts";
import { serviceKey } from "../../service/same-service.ts";
import { wholeList } from "../../transfer/whole-list.ts";

interface KeyOptions {
  recoveryKeyFile?: string;
}

interface CreateOptions extends Omit<PersonOptions, "org">, KeyOptions {
  force?: boolean;
}

/**
 * `coffer backup create <file>`: everything that the person can read, sealed so that the recovery
 * key opens it.
 */
export async function createBackup({ args: [path = ""], options, env }: Call<CreateOptions>): Promise<void> {
  const isThere = (await lstat(path).catch(() => undefined)) !== undefined;
  if (isThere && options.force !== true) throw usage(`${visible(path)} exists already: --force overwrites it`);
  const { person } = await asMember(options, env);
  const seal = await provenSeal(person, options, env);
  const counts = { vaults: 0, records: 0, folders: 0, secrets: 0 };
  const missing: string[] = [];
  async function* counted(): AsyncGenerator<BackupItem> {
    for await (const item of itemsOf(person, { options, env, missing })) {
      if ("vault" in item) counts.vaults += 1;
      else if ("record" in item) counts.records += 1;
      else if ("folder" in item) counts.folders += 1;
      else counts.secrets += 1;
      yield item;
    }
  }
  const session = await sessionAt(person.url, env);
  const lines: string[] = [];
  for await (const line of sealBackup(session, seal, counted(), new Date())) lines.push(line);
  if ((await person.travel.status()).enabled) missing.push("the vaults that travel mode hides");
  // An existing file may be complete.
  if (isThere && missing.length > 0)
    throw new Failure(exitCodes.failure, `${leftOutOf(missing)}. ${visible(path)} is unchanged: name another file`);
  await withHeldSignals(() => writePrivateFile(path, `${lines.join("\n")}\n`));
  printNotice(
    `wrote ${path}: ${countOf(counts.records, "record")} of ${countOf(counts.vaults, "vault")}, ` +
      `${countOf(counts.secrets, "secret")} of ${countOf(counts.folders, "folder")}; the recovery key opens it`,
  );
  if (options.json === true) printJson({ file: path, ...counts, missing });
  if (missing.length > 0) throw new Failure(exitCodes.failure, leftOutOf(missing));
}

const leftOutOf = (missing: readonly string[]): string => `not in the backup: ${missing.join("; ")}`;

/**
 * The sealed user key of the service, which the recovery key has opened here once. It is asked for
 * again when the service shows another one: after a new recovery key, or when the service lies.
 */
async function provenSeal(person: PersonClient, options: KeyOptions, env: NodeJS.ProcessEnv): Promise<string> {
  const directory = profileDirectory(env);
  const session = await sessionAt(person.url, env);
  const seal = await person.recoverySeal();
  const hash = createHash("sha256").update(seal).digest("hex");
  const name = `${serviceKey(person.url)} ${session.user.id}`;
  const known = (await readProfile(directory)).recovery[name];
  if (known === hash) return seal;
  if (known !== undefined) printNotice("the recovery key was replaced since the last backup on this machine");
  await checkRecoverySeal(session, { seal, recoveryKey: await readRecoveryKey(options.recoveryKeyFile) });
  await changeProfile(directory, (profile) => ({ ...profile, recovery: { ...profile.recovery, [name]: hash } }));
  return seal;
}

interface Gathering {
  options: CreateOptions;
  env: NodeJS.ProcessEnv;
  /** Gets what cannot be read. */
  missing: string[];
}

async function* itemsOf(person: PersonClient, { options, env, missing }: Gathering): AsyncGenerator<BackupItem> {
  const everywhere = await asMember(options, env);
  for (const vault of await vaultsOf(everywhere)) {
    if (vault.problem !== null) {
      missing.push(`the vault ${visible(vault.name)} (${vault.problem})`);
      continue;
    }
    const { id, name, type, org_id } = vault;
    yield { vault: { id, name, type, org_id } };
    const { records, counted } = await wholeList({ person: everywhere.person, vault, leftOut: new Set() });
    for (const { id: recordId, vault_id, type: recordType, fields, created_at, updated_at } of records)
      yield { record: { id: recordId, vault_id, type: recordType, fields, created_at, updated_at } };
    const lost = counted - records.length;
    if (lost > 0) missing.push(`${countOf(lost, "record")} of the vault ${visible(name)}`);
  }
  const { organizations } = await person.account();
  for (const organization of organizations.filter(({ status }) => status === "active")) {
    const member = await asMember({ ...options, org: organization.id }, env);
    const folders = await member.person.folders.list();
    for (const { id, name, problem } of folders) {
      if (problem !== null) missing.push(`the folder ${visible(name)} (${problem})`);
      else yield { folder: { id, name, organization: organization.name } };
    }
    for (const {
      version: _,
      key_version: _key,
      created_at: _made,
      folder: _named,
      ...secret
    } of await member.person.secrets.list())
      yield { secret };
    if (member.leftOut.size > 0)
      missing.push(`${countOf(member.leftOut.size, "secret")} of ${visible(organization.name)}`);
  }
}

interface ReadOptions extends KeyOptions {
  json?: boolean;
}

/** `coffer backup ls <file>`: what a backup holds, without values and without a service. */
export async function listBackup({ args: [path = ""], options }: Call<ReadOptions>): Promise<void> {
  const { about, items } = await opened(path, options);
  const places = placesOf(items);
  const rows = items.flatMap((item) => {
    if ("record" in item)
      return [["record", places.get(item.record.vault_id) ?? "", item.record.fields["name"] ?? "", item.record.id]];
    return "secret" in item
      ? [["secret", places.get(item.secret.folder_id) ?? "", item.secret.title, item.secret.uid]]
      : [];
  });
  printNotice(`the backup of ${about.email} at ${about.url}, of ${about.created_at}`);
  const [kind, place, name, id] = ["kind", "place", "name", "id"];
  if (options.json === true)
    printJson({
      ...about,
      items: rows.map((row) => ({ [kind]: row[0], [place]: row[1], [name]: row[2], [id]: row[3] })),
    });
  else printTable(["KIND", "IN", "NAME", "ID"], rows);
}

/** `coffer backup extract <file> <folder>`: writes it in the clear, a file for each vault and folder. */
export async function extractBackup({ args: [path = "", target = ""], options }: Call<ReadOptions>): Promise<void> {
  const { items } = await opened(path, options);
  await mkdir(target, { recursive: true, mode: 0o700 });
  if ((await readdir(target)).length > 0) throw usage(`${visible(target)} is not empty: name a new folder`);
  const written: string[] = [];
  const write = async (name: string, text: string | Uint8Array): Promise<void> => {
    const file = join(target, name);
    await writePrivateFile(file, text);
    written.push(file);
  };
  for (const item of items) {
    if ("vault" in item) {
      const { id, name } = item.vault;
      const records = items.flatMap((one) => ("record" in one && one.record.vault_id === id ? [one.record] : []));
      const { text, archive } = await writeExport(
        "coffer-json",
        records.map((record) => ({ id: record.id, type: record.type, payload: record.fields })),
      );
      await write(`vault-${fileName(name)}-${id}.json`, archive ?? text);
    }
    if ("folder" in item) {
      const { id, name } = item.folder;
      const secrets = items.flatMap((one) => ("secret" in one && one.secret.folder_id === id ? [one.secret] : []));
      await write(`folder-${fileName(name)}-${id}.json`, `${JSON.stringify({ ...item.folder, secrets }, null, 2)}\n`);
    }
  }
  printNotice(
    `wrote ${countOf(written.length, "file")} below ${target} (mode 0600): they hold everything in the clear`,
  );
  if (options.json === true) printJson({ files: written });
}

async function opened(path: string, options: KeyOptions): Promise<OpenedBackup> {
  const lines = (await readNamedFile(path)).replace(/\n$/, "").split("\n");
  return openBackup(lines, await readRecoveryKey(options.recoveryKeyFile));
}

function placesOf(items: readonly BackupItem[]): Map<string, string> {
  return new Map(
    items.flatMap((item) => {
      if ("vault" in item) return [[item.vault.id, item.vault.name] as const];
      return "folder" in item ? [[item.folder.id, item.folder.name] as const] : [];
    }),
  );
}

/** A name that any file system takes; other people choose the names of vaults. */
function fileName(name: string): string {
  return (
    name
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 40) || "unnamed"
  );
}
