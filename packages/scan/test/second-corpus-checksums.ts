import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { base32, base36, base62 } from "./second-corpus-random.ts";

/** GitHub, npm, Vercel: CRC-32 of the body in base62, six characters. */
export function crcBase62(body: string): string {
  return inBase(crc32(body), base62, 6);
}

/** GitLab's routable tokens: CRC-32 of all before it in base36, seven characters. */
export function crcBase36(text: string): string {
  return inBase(crc32(text), base36, 7);
}

/** Grafana: CRC-32 of prefix and body, the low byte first, in hex. */
export function crcLittleEndianHex(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(crc32(text));
  return bytes.toString("hex");
}

/** GitHub's fine-grained tokens: the start of SHA-256 in base32. */
export function shaBase32(text: string): string {
  let bits = 0n;
  for (const byte of createHash("sha256").update(text).digest().subarray(0, 5)) bits = (bits << 8n) | BigInt(byte);
  return Array.from({ length: 8 }, (_, at) => base32[Number((bits >> BigInt(35 - 5 * at)) & 31n)]).join("");
}

/** OpenPGP armor: CRC-24 in base64. */
export function crc24(bytes: Uint8Array): string {
  let crc = 0xb704ce;
  for (const byte of bytes) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit += 1) {
      crc <<= 1;
      if ((crc & 0x1000000) !== 0) crc ^= 0x1864cfb;
    }
  }
  return Buffer.from([(crc >> 16) & 255, (crc >> 8) & 255, crc & 255]).toString("base64");
}

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/** BIP 173, as age writes its keys. */
export function bech32(prefix: string, bytes: Uint8Array): string {
  const values: number[] = [];
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      values.push((held >> bits) & 31);
    }
  }
  if (bits > 0) values.push((held << (5 - bits)) & 31);
  const codes = Array.from(prefix, (char) => char.charCodeAt(0));
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
  const rest = polymod([...expanded, ...values, 0, 0, 0, 0, 0, 0]) ^ 1;
  const checksum = Array.from({ length: 6 }, (_, at) => (rest >>> (5 * (5 - at))) & 31);
  return `${prefix}1${[...values, ...checksum].map((value) => bech32Alphabet[value]).join("")}`;
}

function polymod(values: readonly number[]): number {
  const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, factor] of generator.entries()) if (((top >> bit) & 1) === 1) sum ^= factor;
  }
  return sum;
}

function inBase(value: number, alphabet: string, width: number): string {
  let text = "";
  for (let rest = value; rest > 0; rest = Math.floor(rest / alphabet.length))
    text = `${alphabet[rest % alphabet.length]}${text}`;
  return text.padStart(width, "0");
}
