import { ServiceError } from "@coffer/errors";

/** Structural tokens (RFC 8259 §2: brackets, braces, colons, commas) outside strings. */
const mostTokens = 50_000;
const deepestNesting = 32;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Refuses JSON whose structure is too expensive for its length. The limit is 50,000 tokens, or
 * `tokensPerKibibyte` if that is more. Does not check that the bytes are JSON.
 * @throws ServiceError `invalid_request` for more than 32 levels, `payload_too_large` for too many
 *   tokens.
 */
export function checkStructure(bytes: Buffer, tokensPerKibibyte: number): void {
  const most = Math.max(mostTokens, (bytes.length / 1024) * tokensPerKibibyte);
  let tokens = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at + 1);
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > deepestNesting)
        throw new ServiceError("invalid_request", `the body is nested deeper than ${deepestNesting} levels`);
    } else if (byte === closeBracket || byte === closeBrace) depth--;
    else if (byte !== comma && byte !== colon) continue;
    if (byte !== quote && ++tokens > most)
      throw new ServiceError("payload_too_large", "the body has too many values for its size: send fewer of them");
  }
}

const nearBytes = 32;

/** Index of the quote that ends the string; the end of `bytes` when none does. */
function endOfString(bytes: Buffer, start: number): number {
  // A native search pays only for long strings without escapes, such as ciphertext.
  const near = Math.min(start + nearBytes, bytes.length);
  for (let at = start; at < near; at++) {
    if (bytes[at] === quote) return at;
    if (bytes[at] === backslash) return walkString(bytes, at);
  }
  const end = bytes.indexOf(quote, near);
  if (end === -1) return bytes.length;
  return bytes[end - 1] === backslash ? walkString(bytes, near) : end;
}

function walkString(bytes: Buffer, start: number): number {
  let at = start;
  for (; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
  return at;
}
