import { invalidToken } from "./token-rejection.ts";

/** A JWT taken apart, nothing verified. */
export interface ParsedJwt {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  /** What the signature is over. */
  signed: string;
  signature: Buffer;
}

/** No token that is accepted comes near, and what is longer is not even decoded. */
const longest = 8 * 1024;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Takes apart the compact serialization (RFC 7515 §7.1) of an ES256 JWT: canonical base64url, JSON objects without
 * repeated members, `alg` ES256, `typ` JWT in any case, no extension that must be understood. Keys that a header
 * brings along are never looked at.
 * @throws ServiceError `invalid_token`
 */
export function parseJwt(token: string): ParsedJwt {
  const parts = token.length <= longest ? token.split(".") : [];
  const [header, claims, signature] = parts;
  if (header === undefined || claims === undefined || signature === undefined || parts.length !== 3) {
    throw invalidToken("malformed");
  }
  const jwt = {
    header: parseObject(decode(header)),
    claims: parseObject(decode(claims)),
    signed: `${header}.${claims}`,
    signature: decode(signature),
  };
  const { alg, typ } = jwt.header;
  if (alg !== "ES256") throw invalidToken("algorithm");
  if (typeof typ !== "string" || typ.toUpperCase() !== "JWT") throw invalidToken("type");
  if (Object.hasOwn(jwt.header, "crit")) throw invalidToken("malformed");
  return jwt;
}

/** Canonical base64url only: no padding, and no bits that the encoding leaves over. */
function decode(part: string): Buffer {
  const bytes = Buffer.from(part, "base64url");
  if (part === "" || bytes.toString("base64url") !== part) throw invalidToken("malformed");
  return bytes;
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw invalidToken("malformed");
  }
  if (!isObject(value) || Object.keys(value).length !== countMembers(text)) throw invalidToken("malformed");
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * How many members the object of a valid JSON text is written with. When it has fewer, one stands there twice, and
 * another reader may believe the other one.
 */
function countMembers(json: string): number {
  let members = 0;
  let depth = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (token === ":" && depth === 1) members += 1;
  }
  return members;
}
