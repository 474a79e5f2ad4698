import { CryptoError } from "./crypto-error.ts";
import { decodeText, encodeText } from "./utf8.ts";

/** The plaintext of a secret's `encrypted_payload`. Unknown members are preserved. */
export interface SecretPayload {
  name: string;
  notes?: string;
  fields: Record<string, string>;
}

/**
 * The plaintext of a record's `encrypted_data`: flat, for instance `username`, `password`, `uri`.
 */
export type RecordPayload = Record<string, string>;

/** The bytes of a secret's payload. @throws CryptoError `invalid_input` when it is not one */
export function encodeSecret(payload: SecretPayload): Uint8Array<ArrayBuffer> {
  if (!isSecret(payload)) throw new CryptoError("invalid_input", "a secret has a name and fields, all of them text");
  return encodeText(JSON.stringify(payload));
}

/** The payload of a secret's opened bytes. @throws CryptoError `invalid_plaintext` */
export function decodeSecret(bytes: Uint8Array): SecretPayload {
  const value = parse(bytes);
  if (!isSecret(value)) throw new CryptoError("invalid_plaintext", "the opened data is not the payload of a secret");
  return value;
}

/** The bytes of a record's payload. @throws CryptoError `invalid_input` when it is not one */
export function encodeRecord(payload: RecordPayload): Uint8Array<ArrayBuffer> {
  if (!isTexts(payload)) throw new CryptoError("invalid_input", "a record is flat, and every value of it is text");
  return encodeText(JSON.stringify(payload));
}

/** The payload of a record's opened bytes. @throws CryptoError `invalid_plaintext` */
export function decodeRecord(bytes: Uint8Array): RecordPayload {
  const value = parse(bytes);
  if (!isTexts(value)) throw new CryptoError("invalid_plaintext", "the opened data is not the payload of a record");
  return value;
}

function parse(bytes: Uint8Array): unknown {
  const text = decodeText(bytes);
  try {
    return JSON.parse(text);
  } catch {
    // The platform's message quotes the text.
    throw new CryptoError("invalid_plaintext", "the opened data is not JSON");
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Whether a member's name and value are valid UTF-8 text: JSON can escape half of a surrogate pair.
 */
function isText([name, text]: [string, unknown]): boolean {
  return typeof text === "string" && text.isWellFormed() && name.isWellFormed();
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.entries(value).every(isText);
}

function isSecret(value: unknown): value is SecretPayload {
  if (!isObject(value) || !isText(["name", value["name"]]) || !isTexts(value["fields"])) return false;
  return value["notes"] === undefined || isText(["notes", value["notes"]]);
}
