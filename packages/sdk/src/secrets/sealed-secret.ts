import {
  box,
  contexts,
  decodeSecret,
  decodeText,
  encodeSecret,
  encodeText,
  newKey,
  type SecretPayload,
  unbox,
  unboxBound,
} from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { requireStillTrusted } from "../trust/trusted-key.ts";
import type { SecretView } from "../views.ts";
import type { OpenFolder } from "./secret-store.ts";

/** A secret, decrypted. */
export interface Secret {
  uid: string;
  title: string;
  folder_id: string;
  /** The folder's name. */
  folder: string;
  type: string;
  name: string;
  notes?: string;
  fields: Record<string, string>;
  version: number;
  key_version: number;
  created_at: string;
  updated_at: string;
  /** From this moment on machines do not have it; null for never. */
  expires_at: string | null;
  /** Whether that moment has passed. Only people get such a secret. */
  expired: boolean;
}

const mostFields = 64;
/**
 * The longest ciphertext of a title, a field or a DEK that the service stores, in base64
 * characters.
 */
export const longestField = 64 * 1024;

/** The sealed values of a create or update. */
export interface SealedSecret {
  encrypted_payload: string;
  wrapped_dek: string;
  title_encrypted: string;
  fields: Record<string, string>;
  key_version?: number;
}

/**
 * Decrypts a secret with its folder's key. Throws CofferError `not_decrypted` for a wrong key, or
 * altered or moved ciphertext; `no_key` when the folder's key was not sealed to this caller.
 */
export async function openSecret(view: SecretView, folder: OpenFolder): Promise<Secret> {
  const [payload, sealedTitle] = await Promise.all([openPayload(view, folder), openSealedTitle(view, folder)]);
  const { name, notes, fields } = payload;
  return {
    uid: view.uid,
    title: sealedTitle ?? unsealedTitle(payload, view),
    folder_id: folder.id,
    folder: folder.name,
    type: view.record_type,
    name,
    ...(notes === undefined ? {} : { notes }),
    fields,
    version: view.version,
    key_version: view.key_version,
    created_at: view.created_at,
    updated_at: view.updated_at,
    expires_at: view.expires_at ?? null,
    expired: view.expired === true,
  };
}

/**
 * The opened value, or the error of a value that does not open although the folder's key is
 * available: another program's secret, or an altered one. So one such secret does not block the
 * others.
 */
export async function readable<Opened>(folder: OpenFolder, opening: Promise<Opened>): Promise<Opened | CofferError> {
  try {
    return await opening;
  } catch (error) {
    if (folder.key !== null && error instanceof CofferError && error.code === "not_decrypted") return error;
    throw error;
  }
}

/** The payload with every member, including unknown ones. Throws like `openSecret`. */
export function openPayload(view: SecretView, folder: OpenFolder): Promise<SecretPayload> {
  return opened(`the secret ${view.uid}`, async () => {
    const dek = await unboxBound(await usableKeyOf(folder), view.wrapped_dek, contexts.dek(view.uid));
    return decodeSecret(await unbox(dek, view.data_encrypted, contexts.data(view.uid)));
  });
}

/**
 * The sealed title; without one the payload's name, and then the title that the server shows.
 * Throws like `openSecret`.
 */
export async function openTitle(view: SecretView, folder: OpenFolder): Promise<string> {
  const sealed = await openSealedTitle(view, folder);
  return sealed ?? unsealedTitle(await openPayload(view, folder), view);
}

async function openSealedTitle(view: SecretView, folder: OpenFolder): Promise<string | undefined> {
  if (view.title_encrypted === "") return undefined;
  return opened(`the title of ${view.uid}`, async () =>
    decodeText(await unbox(await usableKeyOf(folder), view.title_encrypted, contexts.title(view.uid))),
  );
}

function unsealedTitle({ name }: SecretPayload, { title }: SecretView): string {
  return name || title;
}

/** The advice for a secret without a sealed title. */
export function unsealedTitleProblem(title: string): string {
  return (
    `the title ${title} is not sealed, so the service could show another secret in its place: ` +
    "name the secret by its uid, or allow it with --unsealed-titles"
  );
}

/** Opens one field of a notation or field response. Throws like `openSecret`. */
export function openField(folder: OpenFolder, uid: string, field: string, sealed: string): Promise<string> {
  return opened(`the field ${field} of ${uid}`, async () =>
    decodeText(await unbox(await usableKeyOf(folder), sealed, contexts.field(uid, field))),
  );
}

/**
 * Seals a payload under a new DEK, and its title and fields under the folder's key, all bound to
 * the uid. Fields beyond the service's limits of size and number are only in the payload.
 */
export async function sealSecret(
  folder: OpenFolder,
  uid: string,
  title: string,
  payload: SecretPayload,
): Promise<SealedSecret> {
  const key = await usableKeyOf(folder);
  const dek = newKey();
  const fields = await Promise.all(
    Object.entries(payload.fields).map(
      async ([name, value]) => [name, await box(key, encodeText(value), contexts.field(uid, name))] as const,
    ),
  );
  return {
    encrypted_payload: await box(dek, encodeSecret(payload), contexts.data(uid)),
    wrapped_dek: await box(key, dek, contexts.dek(uid)),
    title_encrypted: await box(key, encodeText(title), contexts.title(uid)),
    fields: Object.fromEntries(fields.filter(([, sealed]) => sealed.length <= longestField).slice(0, mostFields)),
    ...(folder.keyVersion === undefined ? {} : { key_version: folder.keyVersion }),
  };
}

/**
 * The folder's key, right before it opens or seals something. Throws like `keyOf`, and CofferError
 * `conflict` when entries that were seen since the folder was opened end the use of the key.
 */
export async function usableKeyOf(folder: OpenFolder): Promise<Uint8Array> {
  const key = keyOf(folder);
  await requireStillTrusted(folder, folder.name);
  return key;
}

/**
 * The folder's key. Throws CofferError `no_key` when it was not sealed to this caller,
 * `not_decrypted` when it does not open.
 */
export function keyOf(folder: OpenFolder): Uint8Array {
  if (folder.key !== null) return folder.key;
  const missing = `the key of the folder ${folder.name} was not sealed to you: ask for it to be shared`;
  throw folder.keyError ?? new CofferError("no_key", missing);
}

async function opened<T>(what: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    if (cause instanceof CofferError) throw cause;
    throw new CofferError("not_decrypted", `${what} cannot be decrypted: another key, or altered on its way`, {
      cause,
    });
  }
}
