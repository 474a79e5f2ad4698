import { box, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { Left } from "../histories/left.ts";
import type { ApiAnswer, Send } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import type { SharedPins } from "./merge-pins.ts";
import { newestPin, type SharedPin, type TrustRecord } from "./trust-storage.ts";

/** The key pins that a person's devices share. Vaults have a separate pin each. */
export interface Keyring extends SharedPins {
  version: number;
}

const path = "/api/account/keyring";

/** A pin with its `checked_at`. */
export type PinText = [seq: number, hash: string, at?: number];

interface KeyringPlaintext {
  pins: Record<string, PinText>;
  accepted: string[];
  left?: Record<string, readonly Left[]>;
}

export function textOfPin({ seq, hash, at }: SharedPin): PinText {
  return at === undefined ? [seq, hash] : [seq, hash, at];
}

export function pinOfText([seq, hash, at]: PinText): SharedPin {
  return { seq, hash, at };
}

/** The folders that the person uses. */
export function acceptedIn(resources: TrustRecord["resources"]): string[] {
  return Object.keys(resources).filter((res) => res.startsWith("folder:") && resources[res]?.accepted === true);
}

/** Seals the pins of a record as one version of the keyring. */
export async function sealKeyring(
  session: Pick<PersonSession, "user_key"> & { user: { id: string } },
  version: number,
  { resources }: TrustRecord,
): Promise<string> {
  const shared = Object.entries(resources).filter(([res]) => !res.startsWith("vault:"));
  const pins = shared.map(([res, trusted]) => [res, textOfPin(newestPin(trusted))] as const);
  const left = shared.flatMap(([res, { left: known = [] }]) => (known.length === 0 ? [] : [[res, known] as const]));
  const plaintext: KeyringPlaintext = { pins: Object.fromEntries(pins), accepted: acceptedIn(resources) };
  if (left.length > 0) plaintext.left = Object.fromEntries(left);
  const context = contexts.keyring(session.user.id, version);
  return box(decodeBase64(session.user_key), encodeText(JSON.stringify(plaintext)), context);
}

/**
 * Reads the keyring from the service.
 * @throws CofferError `keyring_missing` when there is none, or it does not open
 */
export async function readKeyring(send: Send, session: PersonSession): Promise<Keyring> {
  let answer: ApiAnswer;
  try {
    answer = await send({ method: "GET", path });
  } catch (error) {
    if (error instanceof CofferError && error.status === 404 && !error.foreign) throw missing("there is none", error);
    throw error;
  }
  const { version, sealed } = answer.body as { version?: unknown; sealed?: unknown };
  if (typeof sealed !== "string" || !Number.isSafeInteger(version))
    throw new CofferError("bad_answer", "the service's answer is no keyring", { status: answer.status });
  const number = Number(version);
  try {
    const opened = await unboxBound(decodeBase64(session.user_key), sealed, contexts.keyring(session.user.id, number));
    const { pins, accepted, left = {} } = JSON.parse(decodeText(opened)) as KeyringPlaintext; // this person sealed it
    const heads = Object.entries(pins).map(([res, pin]) => [res, pinOfText(pin)] as const);
    return { version: number, pins: Object.fromEntries(heads), accepted, left };
  } catch (cause) {
    throw missing("it does not open", cause);
  }
}

/**
 * Writes the next version of the keyring, and reads it back: a version that the service has
 * acknowledged and does not have would keep this device from the pins of the others. Throws
 * CofferError `precondition_failed` when another device was first.
 * @returns whether the service shows it
 */
export async function writeKeyring(
  send: Send,
  session: PersonSession,
  version: number,
  record: TrustRecord,
): Promise<boolean> {
  const sealed = await sealKeyring(session, version, record);
  await send({ method: "PUT", path, body: { version, sealed } });
  return ((await send({ method: "GET", path })).body as { sealed?: unknown }).sealed === sealed;
}

function missing(why: string, cause: unknown): CofferError {
  const what = `the keyring, with the key pins of your other devices, is missing: ${why}`;
  return new CofferError("keyring_missing", `${what}. \`coffer keyring trust\` shows what would be trusted`, { cause });
}

export function keyringRolledBack(shown: number, known: number): CofferError {
  return new CofferError(
    "keyring_rolled_back",
    `the service shows version ${shown} of the keyring, and this device has seen version ${known}: ` +
      "`coffer keyring trust` shows what would be trusted",
  );
}
