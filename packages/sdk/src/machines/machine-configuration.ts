import type { Permission } from "@coffer/contract";
import { CofferError } from "../errors.ts";
import { canonicalUrl } from "../http/transport.ts";
import { emptyTrust, type TrustRecord } from "../trust/trust-storage.ts";

/**
 * A folder in a machine's configuration. `key` is base64; null when the key was not sealed to this
 * machine.
 */
export interface ConfiguredFolder {
  id: string;
  name: string;
  permission: Permission | null;
  /** Absent when the response with the key did not name it. */
  key_version?: number | undefined;
  key: string | null;
}

/**
 * A machine's identity and folder keys. Anyone who has it can act as the machine, so store it in a
 * file with mode 0600, or in a variable that no child process sees.
 */
export interface MachineConfiguration {
  version: 1;
  url: string;
  client_id: string;
  /** base64 of the PKCS#8 DER. */
  private_key: string;
  /** base64 of the SPKI DER. */
  public_key: string;
  /** Absent until the one-time token is known to be spent. */
  application_id?: string | undefined;
  org_id?: string | undefined;
  /** base64; opens the values of the one-time token. Stored until every join is done. */
  wrap_key?: string | undefined;
  /**
   * Hex SHA-256 of the one-time token, which names the machine's invitations. Stored until every
   * join is done.
   */
  token_hash?: string | undefined;
  /** The key pins of this machine's folders. */
  histories?: TrustRecord | undefined;
  folders: ConfiguredFolder[];
}

const requiredTexts = ["url", "client_id", "private_key", "public_key"] as const;
const optionalTexts = ["application_id", "org_id", "wrap_key", "token_hash"] as const;

/** A shorter text of the base64 alphabet may be a file name. */
const shortestBase64 = 64;

/**
 * The JSON of a configuration in a text: the text itself, or its base64 (standard or url-safe, also
 * wrapped, without padding or truncated). Undefined for anything else, such as a path.
 */
export function configurationText(given: string): string | undefined {
  const text = withoutMark(given);
  if (text.startsWith("{")) return text;
  const base64 = text.replace(/\s+/g, "").replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  if (base64.length < shortestBase64 || !/^[A-Za-z0-9+/]+$/.test(base64)) return undefined;
  // A truncated text may have one digit too many.
  const digits = base64.length % 4 === 1 ? base64.slice(0, -1) : base64;
  const bytes = Uint8Array.from(atob(digits), (sign) => sign.charCodeAt(0));
  const decoded = withoutMark(new TextDecoder().decode(bytes));
  return decoded.startsWith("{") ? decoded : undefined;
}

/** Editors on Windows start a file with a byte order mark. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "").trimStart();
}

/**
 * Parses a machine's configuration from its JSON text, or the base64 of it. Throws CofferError
 * `configuration` with the problem, never with a value.
 */
export function parseConfiguration(text: string): MachineConfiguration {
  const wrong = (why: string): CofferError => new CofferError("configuration", `not a machine's configuration: ${why}`);
  let found: unknown;
  try {
    found = JSON.parse(configurationText(text) ?? text);
  } catch {
    throw wrong("it is neither JSON nor the base64 of JSON");
  }
  if (typeof found !== "object" || found === null) throw wrong("it is not an object");
  const fields = found as Record<string, unknown>; // each is looked at below
  if (fields["version"] !== 1) throw wrong("`version` is not 1");
  for (const name of requiredTexts) if (typeof fields[name] !== "string") throw wrong(`\`${name}\` is missing`);
  for (const name of optionalTexts)
    if (fields[name] !== undefined && typeof fields[name] !== "string") throw wrong(`\`${name}\` is not a string`);
  if (!Array.isArray(fields["folders"]) || !fields["folders"].every(isFolder)) throw wrong("`folders` is not a list");
  const { histories } = fields;
  if (histories !== undefined && !isTrust(histories)) throw wrong("`histories` is not what this version writes");
  // The typed members were checked above, but the type of `fields` does not show that.
  const configuration = fields as unknown as MachineConfiguration;
  return { ...configuration, url: canonicalUrl(configuration.url) };
}

/**
 * Whether the one-time token is spent and the folder keys are open, so that the configuration can
 * be used.
 */
export function isBootstrapped(configuration: MachineConfiguration): boolean {
  return configuration.application_id !== undefined;
}

/** The key pins of a configuration; none for one from before histories existed. */
export function trustOf({ histories }: MachineConfiguration): TrustRecord {
  return histories ?? emptyTrust();
}

function isTrust(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { version, resources } = value as Record<string, unknown>; // both are looked at
  return version === 1 && typeof resources === "object" && resources !== null;
}

function isFolder(value: unknown): value is ConfiguredFolder {
  if (typeof value !== "object" || value === null) return false;
  const { id, name, key } = value as Record<string, unknown>;
  return typeof id === "string" && typeof name === "string" && (key === null || typeof key === "string");
}
