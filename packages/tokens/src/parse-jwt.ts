/** A JWT taken apart, nothing verified. */
export interface ParsedJwt {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  /** What the signature is over. */
  signed: string;
  signature: Buffer;
}

const longest = 8 * 1024;
const base64url = /^[A-Za-z0-9_-]+$/;

/** The compact serialization (RFC 7515 §7.1) with JSON objects in both parts, or null for anything else. */
export function parseJwt(token: string): ParsedJwt | null {
  if (token.length > longest) return null;
  const [header, claims, signature, ...more] = token.split(".");
  if (header === undefined || claims === undefined || signature === undefined || more.length > 0) return null;
  const parts = [decode(header), decode(claims), decode(signature)] as const;
  if (parts[0] === null || parts[1] === null || parts[2] === null) return null;
  const parsedHeader = parseObject(parts[0]);
  const parsedClaims = parseObject(parts[1]);
  if (parsedHeader === null || parsedClaims === null) return null;
  return { header: parsedHeader, claims: parsedClaims, signed: `${header}.${claims}`, signature: parts[2] };
}

/** Canonical base64url only: no padding, and no bits that the encoding leaves over. */
function decode(part: string): Buffer | null {
  if (!base64url.test(part)) return null;
  const bytes = Buffer.from(part, "base64url");
  return bytes.toString("base64url") === part ? bytes : null;
}

function parseObject(bytes: Buffer): Record<string, unknown> | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null; // an object of JSON has strings as keys
  } catch {
    return null;
  }
}
