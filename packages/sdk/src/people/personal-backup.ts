import {
  box,
  contexts,
  decodeBase64,
  decodeText,
  encodeText,
  newId,
  newKey,
  readRecoveryKey,
  unboxBound,
} from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { Secret } from "../secrets/sealed-secret.ts";
import type { VaultRecord } from "../vaults/sealed-record.ts";
import { understood } from "./opaque-exchange.ts";
import type { PersonSession } from "./person-session.ts";

/** Another number when this version cannot read the file. */
const format = 1;

/** One item of a personal backup. Vaults and folders come before what they hold. */
export type BackupItem =
  | { vault: { id: string; name: string; type: string; org_id: string | null } }
  | { record: Pick<VaultRecord, "id" | "vault_id" | "type" | "fields" | "created_at" | "updated_at"> }
  | { folder: { id: string; name: string; organization: string } }
  | { secret: Pick<Secret, "uid" | "title" | "folder_id" | "type" | "name" | "notes" | "fields" | "updated_at"> };

/** The first line of a personal backup, which anybody can read. */
export interface BackupAbout {
  coffer_personal_backup: number;
  id: string;
  created_at: string;
  url: string;
  email: string;
}

interface Header extends BackupAbout {
  /** The user key under the recovery key, as the service stores it. */
  recovery: string;
  /** The key of the backup under the user key. */
  key: string;
}

/** Characters of JSON in one part. */
const partSize = 256 * 1024;

/**
 * Checks that a recovery key opens the sealed user key that the service stores for it, and that
 * this is the caller's. Throws CofferError `invalid_request` for a text that is no recovery key,
 * `not_decrypted` for another one, `bad_answer` when the service stores another user key.
 */
export async function checkRecoverySeal(
  session: Pick<PersonSession, "user_key">,
  { seal, recoveryKey }: { seal: string; recoveryKey: string },
): Promise<void> {
  const opened = await openSeal(recoveryKey, seal, "this is not your present recovery key");
  const own = decodeBase64(session.user_key);
  if (opened.length !== own.length || opened.some((byte, index) => byte !== own[index]))
    throw new CofferError("bad_answer", "the service stores another user key for the recovery key than yours");
}

/**
 * Seals items as the lines of a backup file, which the recovery key opens without the service.
 * `seal` is the user key under the recovery key, which `checkRecoverySeal` has accepted.
 */
export async function* sealBackup(
  session: Pick<PersonSession, "user_key" | "url" | "user">,
  seal: string,
  items: AsyncIterable<BackupItem>,
  now: Date,
): AsyncGenerator<string> {
  const id = newId();
  const key = newKey();
  const header: Header = {
    coffer_personal_backup: format,
    id,
    created_at: now.toISOString(),
    url: session.url,
    email: session.user.email,
    recovery: seal,
    key: await box(decodeBase64(session.user_key), key, contexts.backupKey(id)),
  };
  yield JSON.stringify(header);
  let parts = 0;
  let waiting: BackupItem[] = [];
  let size = 0;
  const sealPart = async (content: object): Promise<string> => {
    const part = await box(key, encodeText(JSON.stringify(content)), contexts.backupPart(id, parts));
    parts += 1;
    waiting = [];
    size = 0;
    return part;
  };
  for await (const item of items) {
    waiting.push(item);
    size += JSON.stringify(item).length;
    if (size >= partSize) yield sealPart({ items: waiting });
  }
  // Says that nothing was cut off after it.
  yield sealPart({ items: waiting, end: true });
}

export interface OpenedBackup {
  about: BackupAbout;
  items: BackupItem[];
}

/**
 * Opens a backup file, given as its lines. Throws CofferError `invalid_request` for a text that is
 * no recovery key, or a file that is no backup or of a later version; `not_decrypted` for another
 * recovery key, and for a changed or cut file.
 */
export async function openBackup(lines: readonly string[], recoveryKey: string): Promise<OpenedBackup> {
  const [first = "", ...parts] = lines;
  const header = headerOf(first);
  const userKey = await openSeal(recoveryKey, header.recovery, "this recovery key does not open the backup");
  const key = await understood(unboxBound(userKey, header.key, contexts.backupKey(header.id)));
  const items: BackupItem[] = [];
  let ended = false;
  for (const [index, part] of parts.entries()) {
    const opened = await understood(unboxBound(key, part, contexts.backupPart(header.id, index)));
    const content = JSON.parse(decodeText(opened)) as { items: BackupItem[]; end?: boolean }; // this person sealed it
    items.push(...content.items);
    ended = content.end === true;
  }
  if (!ended) throw new CofferError("not_decrypted", "the backup is cut off: take another copy of it");
  const { recovery: _sealed, key: _key, ...about } = header;
  return { about, items };
}

/**
 * The user key in the seal. Throws CofferError `not_decrypted` with this message for another
 * recovery key.
 */
async function openSeal(recoveryKey: string, seal: string, message: string): Promise<Uint8Array> {
  const { wrapKey } = await understood(readRecoveryKey(recoveryKey.trim()));
  return understood(unboxBound(wrapKey, seal, contexts.userKey())).catch((cause: unknown) => {
    const isWrong = cause instanceof CofferError && cause.code === "not_decrypted";
    throw isWrong ? new CofferError("not_decrypted", message, { cause }) : cause;
  });
}

function headerOf(line: string): Header {
  let found: Partial<Header> | null = null;
  try {
    found = JSON.parse(line) as Partial<Header> | null; // checked below
  } catch {
    // Reported below.
  }
  const version = found?.coffer_personal_backup;
  if (typeof version === "number" && version > format)
    throw new CofferError("invalid_request", `a later version of coffer made this backup: its format is ${version}`);
  const texts = [found?.id, found?.created_at, found?.url, found?.email, found?.recovery, found?.key];
  if (version === format && texts.every((text) => typeof text === "string")) return found as Header; // just checked
  throw new CofferError("invalid_request", "this is no backup that coffer backup has made");
}
