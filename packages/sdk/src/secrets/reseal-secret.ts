import {
  box,
  type Context,
  contexts,
  CryptoError,
  decodeSecret,
  decodeText,
  encodeText,
  newKey,
  type SecretPayload,
  unbox,
  unboxBound,
} from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { SecretView } from "../views.ts";
import { keyOf, longestField } from "./sealed-secret.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";

/** A part of a secret that the folder's current key does not open. */
export type SecretPart = "dek" | "payload" | "title" | `field ${string}`;

/** A secret with parts that a rotation could not seal again. Their ciphertext is unchanged. */
export interface UnopenedSecret {
  uid: string;
  parts: SecretPart[];
}

/** One secret of a rotation: its part of the request, and the parts that did not open. */
export interface Resealed {
  body: object;
  unopened: SecretPart[];
}

/**
 * Seals a secret under another folder key, and its payload under a new DEK: former holders of the
 * folder may know the present one. A field gets the payload's value; if the payload has none, the
 * field's own ciphertext is opened and sealed again. A part that cannot be opened or sealed is sent
 * unchanged and reported: one such secret must not stop a rotation. A payload that does not open
 * leaves its DEK under the former folder key. Throws CofferError `conflict` after a concurrent
 * change of the secret.
 */
export async function resealSecret(
  store: SecretStore,
  view: SecretView,
  folder: OpenFolder,
  key: Uint8Array,
): Promise<Resealed> {
  const { uid } = view;
  const present = keyOf(folder);
  const unopened: SecretPart[] = [];
  const part = async (name: SecretPart, sealed: string, seal: () => Promise<string>): Promise<string> => {
    const again = await unlessUnreadable(seal);
    if (again !== undefined && again.length <= longestField) return again;
    unopened.push(name);
    return sealed;
  };
  const plaintext = await unlessUnreadable(() => openedPayload(view, present));
  if (plaintext === undefined) unopened.push("dek", "payload");
  const sealed = plaintext === undefined ? { wrapped_dek: view.wrapped_dek } : await sealedPayload(uid, plaintext, key);
  const title = await part("title", view.title_encrypted, () =>
    view.title_encrypted === ""
      ? Promise.resolve("")
      : sealedAgain(view.title_encrypted, present, key, () => contexts.title(uid)),
  );
  const payload =
    plaintext === undefined ? undefined : await unlessUnreadable(() => Promise.resolve(decodeSecret(plaintext)));
  const own = new Map<string, string>();
  for (const name of view.field_names) {
    const value = await unlessUnreadable(() => sealedValue(payload, name, key, () => contexts.field(uid, name)));
    if (value !== undefined && value.length <= longestField) own.set(name, value);
  }
  if (own.size < view.field_names.length) {
    const all = await storedFields(store, view);
    for (const name of view.field_names) {
      if (own.has(name)) continue;
      const stored = Object.hasOwn(all, name) ? all[name] : undefined;
      if (stored === undefined) throw changed();
      own.set(
        name,
        await part(`field ${name}`, stored, () => sealedAgain(stored, present, key, () => contexts.field(uid, name))),
      );
    }
  }
  return {
    body: {
      uid,
      version: view.version,
      ...sealed,
      ...(title === "" ? {} : { title_encrypted: title }),
      fields: Object.fromEntries(own),
    },
    unopened,
  };
}

/** The bytes of the payload, whatever they say. */
async function openedPayload({ uid, wrapped_dek, data_encrypted }: SecretView, key: Uint8Array): Promise<Uint8Array> {
  return unbox(await openedDek(uid, wrapped_dek, key), data_encrypted, contexts.data(uid));
}

/**
 * A DEK, also in the bare layout of other clients, which readers refuse: otherwise its secret would
 * be lost. A bare title or field may be shown in its place, whose text the service may know. No
 * text is a DEK: of random DEKs one in a hundred million is UTF-8.
 */
async function openedDek(uid: string, wrapped: string, key: Uint8Array): Promise<Uint8Array> {
  const context = contexts.dek(uid);
  const dek = await unbox(key, wrapped, context);
  if (!isUtf8(dek) || (await isBound(key, wrapped, context))) return dek;
  throw new CryptoError("decryption_failed", "a text stands in the place of a DEK");
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decodeText(bytes);
    return true;
  } catch {
    return false;
  }
}

async function isBound(key: Uint8Array, sealed: string, context: Context): Promise<boolean> {
  try {
    await unboxBound(key, sealed, context);
    return true;
  } catch {
    return false;
  }
}

/** A payload under a new DEK. */
async function sealedPayload(
  uid: string,
  plaintext: Uint8Array,
  key: Uint8Array,
): Promise<{ encrypted_payload: string; wrapped_dek: string }> {
  const dek = newKey();
  return {
    encrypted_payload: await box(dek, plaintext, contexts.data(uid)),
    wrapped_dek: await box(key, dek, contexts.dek(uid)),
  };
}

/** Undefined for a value that does not open, is malformed, or has a name that no context allows. */
async function unlessUnreadable<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof CryptoError || (error instanceof CofferError && error.code === "not_decrypted"))
      return undefined;
    throw error;
  }
}

async function sealedValue(
  payload: SecretPayload | undefined,
  name: string,
  key: Uint8Array,
  context: () => Context,
): Promise<string | undefined> {
  const value = payload !== undefined && Object.hasOwn(payload.fields, name) ? payload.fields[name] : undefined;
  return value === undefined ? undefined : box(key, encodeText(value), context());
}

async function sealedAgain(
  sealed: string,
  present: Uint8Array,
  key: Uint8Array,
  context: () => Context,
): Promise<string> {
  const text = decodeText(await unbox(present, sealed, context()));
  return box(key, encodeText(text), context());
}

/** The stored encrypted fields of the secret. */
async function storedFields(store: SecretStore, view: SecretView): Promise<Record<string, string>> {
  const path = `${store.pathIn(view.folder_id)}/${encodeURIComponent(view.uid)}`;
  const answer = await store.send({ method: "GET", path, query: { fields: "true" } });
  const read = requireRequested<SecretView & { fields?: unknown }>(answer, {
    uid: view.uid,
    folder_id: view.folder_id,
  });
  if (read.version !== view.version) throw changed();
  if (isTexts(read.fields)) return read.fields;
  throw new CofferError("bad_answer", `the service did not answer the fields of the secret ${view.uid}`, {
    status: answer.status,
  });
}

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((text) => typeof text === "string");
}

function changed(): CofferError {
  return new CofferError("conflict", "a secret of the folder changed while its new key was sealed");
}
