import type { OneTimeCode } from "../../protocol/records.ts";

interface Settings {
  secret: string;
  periodSeconds: number;
  digits: number;
  hash: "SHA-1" | "SHA-256" | "SHA-512";
  steam: boolean;
}

const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const steamLetters = "23456789BCDFGHJKMNPQRTVWXY";

/** The code of a record's `totp_secret` (RFC 6238); null when that is no secret. `now` in Unix milliseconds. */
export async function oneTimeCode(text: string, now: number): Promise<OneTimeCode | null> {
  const settings = settingsOf(text);
  if (settings === null) return null;
  const { periodSeconds, digits, hash, steam } = settings;
  const secret = decodeBase32(settings.secret);
  if (secret === null || secret.length === 0) return null;
  const step = Math.floor(now / 1000 / periodSeconds);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(step));
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash }, false, ["sign"]);
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, counter));
  const value = mac.getUint32(mac.getUint8(mac.byteLength - 1) & 15) & 0x7fffffff;
  const code = steam ? steamCode(value) : String(value % 10 ** digits).padStart(digits, "0");
  return { code, until: (step + 1) * periodSeconds * 1000, periodSeconds };
}

function settingsOf(text: string): Settings | null {
  const plain: Settings = { secret: text, periodSeconds: 30, digits: 6, hash: "SHA-1", steam: false };
  if (!/^otpauth:/i.test(text)) return plain;
  const query = URL.parse(text)?.searchParams;
  const secret = query?.get("secret");
  if (query === undefined || secret === null || secret === undefined) return null;
  const number = (name: string, otherwise: number, most: number): number => {
    const given = query.get(name);
    if (given === null) return otherwise;
    return /^[1-9]\d{0,4}$/.test(given) && Number(given) <= most ? Number(given) : NaN;
  };
  const periodSeconds = number("period", 30, 86_400);
  const digits = number("digits", 6, 10);
  const algorithm = (query.get("algorithm") ?? "SHA1").toUpperCase().replace("-", "");
  const hash = ({ SHA1: "SHA-1", SHA256: "SHA-256", SHA512: "SHA-512" } as const)[algorithm];
  if (Number.isNaN(periodSeconds) || Number.isNaN(digits) || hash === undefined) return null;
  return { secret, periodSeconds, digits, hash, steam: query.get("encoder")?.toLowerCase() === "steam" };
}

function decodeBase32(text: string): Uint8Array<ArrayBuffer> | null {
  const letters = text.toUpperCase().replace(/[\s=-]/g, "");
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of letters) {
    const index = base32.indexOf(letter);
    if (index === -1) return null;
    value = ((value << 5) | index) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return new Uint8Array(bytes);
}

function steamCode(value: number): string {
  let rest = value;
  let code = "";
  for (let at = 0; at < 5; at += 1) {
    code += steamLetters[rest % steamLetters.length] ?? "";
    rest = Math.floor(rest / steamLetters.length);
  }
  return code;
}
