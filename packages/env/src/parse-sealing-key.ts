import { ValueProblem } from "./variable.ts";

const keyBytes = 32;

/** A symmetric key of 32 bytes in base64url without padding. */
export function sealingKey(text: string): string {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== keyBytes || bytes.toString("base64url") !== text)
    throw new ValueProblem(`must be keys of ${keyBytes} bytes in base64url without padding`);
  return text;
}
