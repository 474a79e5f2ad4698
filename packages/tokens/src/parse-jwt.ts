import { invalidToken } from "./token-rejection.ts";

/** A parsed JWT, not verified. */
export interface ParsedJwt {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  /** The signed text. */
  signed: string;
  signature: Buffer;
}

/** No accepted token is nearly as long; a longer text is not decoded. */
const longest = 8 * 1024;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses the compact serialization (RFC 7515 §7.1) of an ES256 JWT: canonical base64url, JSON objects
 * without repeated members, `alg` ES256, `typ` JWT in any case, no critical extension. Ignores keys in
 * the header.
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

/** Canonical base64url only: no padding, no set bits after the end. */
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
 * The number of members in the text of a JSON object. If the object has fewer, one is repeated, and
 * another reader may use the other value.
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
