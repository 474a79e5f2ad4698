const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** Whether a text in one case, such as `AGE-SECRET-KEY-1…`, ends in the checksum of BIP 173. */
export function hasBech32Checksum(text: string): boolean {
  const { name, values } = partsOf(text);
  return values.every((value) => value >= 0) && polymod([...expanded(name), ...values]) === 1;
}

/** The text with its last six characters replaced by the checksum of those before. */
export function withBech32Checksum(text: string): string {
  const { name, values } = partsOf(text);
  const rest = polymod([...expanded(name), ...values.slice(0, -6), 0, 0, 0, 0, 0, 0]) ^ 1;
  const checksum = [25, 20, 15, 10, 5, 0].map((shift) => alphabet.charAt((rest >>> shift) & 31)).join("");
  return `${text.slice(0, -6)}${text === text.toUpperCase() ? checksum.toUpperCase() : checksum}`;
}

function partsOf(text: string): { name: string; values: number[] } {
  const small = text.toLowerCase();
  const separator = small.lastIndexOf("1");
  return {
    name: small.slice(0, separator),
    values: Array.from(small.slice(separator + 1), (sign) => alphabet.indexOf(sign)),
  };
}

function expanded(name: string): number[] {
  const codes = Array.from(name, (sign) => sign.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

function polymod(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, factor] of generator.entries()) if (((top >> bit) & 1) === 1) sum ^= factor;
  }
  return sum >>> 0;
}
