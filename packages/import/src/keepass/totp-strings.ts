import { decodeBase64 } from "@coffer/crypto";
import { parseOtpauth, totpSecret } from "../otpauth.ts";

/** Strings of an entry by their names. */
export type Strings = ReadonlyMap<string, string>;

/** Settings with their form. A setting of another form stays a custom field. */
const timeOtpSettings = [
  ["TimeOtp-Period", /^\d+$/],
  ["TimeOtp-Length", /^\d+$/],
  ["TimeOtp-Algorithm", /^HMAC-SHA-\d+$/],
] as const;

/**
 * The one-time code of an entry, and the strings that are covered by it: `otp` (KeePassXC: a link,
 * or the query of the KeeOtp plug-in), `TimeOtp-*` (KeePass since 2.47), `TOTP Seed` and `TOTP
 * Settings` (the tray plug-in).
 */
export function readTotp(strings: Strings): { secret: string; used: string[] } | undefined {
  const found = [fromOtp(strings), fromTimeOtp(strings), fromSeed(strings)].filter((each) => each !== undefined);
  const [first] = found;
  if (first === undefined) return undefined;
  // The same secret in another form is a duplicate; another secret stays a custom field.
  const same = found.filter(({ secret }) => bare(secret) === bare(first.secret));
  return { secret: first.secret, used: same.flatMap(({ used }) => used) };
}

type Found = { secret: string; used: string[] } | undefined;

function bare(secret: string): string {
  return (parseOtpauth(secret)?.secret ?? secret).replace(/[\s=]/g, "").toUpperCase();
}

function fromOtp(strings: Strings): Found {
  const otp = strings.get("otp") ?? "";
  if (otp === "") return undefined;
  const query = /^[a-z]+=/i.test(otp) ? new URLSearchParams(otp) : undefined;
  const key = query?.get("key");
  if (query === undefined || !key) return { secret: otp, used: ["otp"] };
  const settings = { period: query.get("step") ?? undefined, digits: query.get("size") ?? undefined };
  const algorithm = query.get("otpHashMode")?.toUpperCase();
  return { secret: totpSecret({ secret: key, ...settings, algorithm }), used: ["otp"] };
}

function fromTimeOtp(strings: Strings): Found {
  const read: readonly [string, (text: string) => string | undefined][] = [
    ["TimeOtp-Secret-Base32", (text) => text],
    ["TimeOtp-Secret-Hex", (text) => encodeBase32(Uint8Array.from(text.match(/[\da-f]{2}/gi) ?? [], fromHex))],
    ["TimeOtp-Secret-Base64", base64ToBase32],
    ["TimeOtp-Secret", (text) => encodeBase32(new TextEncoder().encode(text))],
  ];
  for (const [name, toBase32] of read) {
    const text = strings.get(name) ?? "";
    const secret = text === "" ? undefined : toBase32(text);
    if (secret === undefined) continue;
    const usual = timeOtpSettings.filter(([setting, form]) => form.test(strings.get(setting) ?? ""));
    const settings = new Map(usual.map(([setting]) => [setting, strings.get(setting)]));
    const link = totpSecret({
      secret,
      period: settings.get("TimeOtp-Period"),
      digits: settings.get("TimeOtp-Length"),
      algorithm: settings.get("TimeOtp-Algorithm")?.replace("HMAC-SHA-", "SHA"),
    });
    return { secret: link, used: [name, ...settings.keys()] };
  }
  return undefined;
}

function base64ToBase32(text: string): string | undefined {
  try {
    return encodeBase32(decodeBase64(text));
  } catch {
    return undefined;
  }
}

function fromHex(pair: string): number {
  return Number.parseInt(pair, 16);
}

/** `30;6`: seconds and digits; `S` for digits is Steam. */
function fromSeed(strings: Strings): Found {
  const seed = strings.get("TOTP Seed") ?? "";
  if (seed === "") return undefined;
  const settings = /^\s*(\d+)\s*;\s*(\d+|S)\s*$/i.exec(strings.get("TOTP Settings") ?? "");
  if (settings === null) return { secret: seed, used: ["TOTP Seed"] };
  const [, period, digits] = settings;
  const steam = digits?.toUpperCase() === "S";
  const secret = totpSecret({ secret: seed, period, ...(steam ? { digits: "5", encoder: "steam" } : { digits }) });
  return { secret, used: ["TOTP Seed", "TOTP Settings"] };
}

/** The strings that KeePass and KeePassXC read for a record's value; for a link the link itself. */
export function writeTotp(secret: string): [string, string][] {
  const link = parseOtpauth(secret);
  if (link === undefined && !/^[A-Z2-7 ]+=*$/i.test(secret)) return [["otp", secret]];
  const { secret: bareSecret, period = "30", digits = "6", algorithm = "SHA1" } = link ?? { secret };
  return [
    ...(link === undefined ? [] : [["otp", secret] as [string, string]]),
    ["TimeOtp-Secret-Base32", bareSecret],
    ["TimeOtp-Period", period],
    ["TimeOtp-Length", digits],
    ["TimeOtp-Algorithm", algorithm.replace("SHA", "HMAC-SHA-")],
  ];
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Bytes as base32 (RFC 4648 §6) without padding, the form of one-time code secrets. */
function encodeBase32(bytes: Uint8Array): string {
  let text = "";
  let [buffer, bits] = [0, 0];
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(buffer >> (bits - 5)) & 31] ?? "";
  }
  return bits === 0 ? text : text + (alphabet[(buffer << (5 - bits)) & 31] ?? "");
}
