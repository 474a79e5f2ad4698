import { CofferError } from "./errors.ts";
import { emptyTrust } from "./histories/trust-storage.ts";
import type { TrustRecord } from "./histories/trust-storage.ts";
import { canonicalUrl } from "./transport.ts";
import type { Permission } from "./views.ts";

/** A folder as a machine remembers it. `key` is base64; null when the key was not sealed to this machine. */
export interface ConfiguredFolder {
  id: string;
  name: string;
  permission: Permission | null;
  /** Absent when the answer that brought the key did not say. */
  key_version?: number | undefined;
  key: string | null;
}

/**
 * All that a machine needs: its identity and its folder keys. Whoever holds it is the machine, so it is kept in a file
 * of mode 0600 or in a variable that no child process sees.
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
  /** base64; opens what the one-time token brought. Kept until every join is stored. */
  wrap_key?: string | undefined;
  /** Hex SHA-256 of the one-time token, which names the machine's invitations. Kept as long. */
  token_hash?: string | undefined;
  /** What this machine trusts of its folders' histories. */
  histories?: TrustRecord | undefined;
  folders: ConfiguredFolder[];
}

const requiredTexts = ["url", "client_id", "private_key", "public_key"] as const;
const optionalTexts = ["application_id", "org_id", "wrap_key", "token_hash"] as const;

/** A shorter text of the base64 alphabet may be a file's name. */
const shortestBase64 = 64;

/**
 * The JSON of a configuration that a text holds: the text itself, or what it is the base64 of (standard or url-safe, also
 * wrapped, without padding or cut short). Undefined for anything else, such as a path.
 */
export function configurationText(given: string): string | undefined {
  const text = withoutMark(given);
  if (text.startsWith("{")) return text;
  const base64 = text.replace(/\s+/g, "").replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  if (base64.length < shortestBase64 || !/^[A-Za-z0-9+/]+$/.test(base64)) return undefined;
  // One digit more than whole bytes need is left of a text that was cut short.
  const digits = base64.length % 4 === 1 ? base64.slice(0, -1) : base64;
  const bytes = Uint8Array.from(atob(digits), (sign) => sign.charCodeAt(0));
  const decoded = withoutMark(new TextDecoder().decode(bytes));
  return decoded.startsWith("{") ? decoded : undefined;
}

/** Editors on Windows begin a file with a byte order mark. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "").trimStart();
}

/**
 * Reads a machine's configuration from its JSON text, or the base64 of it.
 * Throws CofferError `configuration` naming what is wrong, never quoting a value.
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
  // The members with a type of their own were checked above; a record of unknowns does not remember that.
  const configuration = fields as unknown as MachineConfiguration;
  return { ...configuration, url: canonicalUrl(configuration.url) };
}

/** Whether the configuration's one-time token is spent and its folder keys are open: it can be used. */
export function isBootstrapped(configuration: MachineConfiguration): boolean {
  return configuration.application_id !== undefined;
}

/** What a configuration trusts; nothing for one that was written before there were histories. */
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
