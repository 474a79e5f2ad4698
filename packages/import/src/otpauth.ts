/** How one-time codes are made, beyond the secret. */
export interface OtpSettings {
  /** base32 */
  secret: string;
  /** Seconds; 30 without it. */
  period?: string | undefined;
  /** Digits of a code; 6 without it. */
  digits?: string | undefined;
  /** SHA1 (without it), SHA256, SHA512 */
  algorithm?: string | undefined;
  /** `steam` for Steam's codes. */
  encoder?: string | undefined;
}

/** A record's value for one-time codes: the secret alone with default settings, else a link. */
export function totpSecret({ secret, period = "30", digits = "6", algorithm = "SHA1", encoder }: OtpSettings): string {
  if (period === "30" && digits === "6" && algorithm === "SHA1" && encoder === undefined) return secret;
  // People write a secret in groups; in a link a space would become a plus.
  const query = new URLSearchParams({ secret: secret.replace(/\s/g, ""), period, digits, algorithm });
  if (encoder !== undefined) query.set("encoder", encoder);
  return `otpauth://totp/?${query.toString()}`;
}

/** The settings of such a link; undefined for other texts. */
export function parseOtpauth(text: string): OtpSettings | undefined {
  const url = /^otpauth:\/\/totp\//i.test(text) ? URL.parse(text) : null;
  const secret = url?.searchParams.get("secret");
  if (url === null || secret === null || secret === undefined) return undefined;
  const given = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const algorithm = given("algorithm")?.toUpperCase().replace("-", "");
  return { secret, period: given("period"), digits: given("digits"), algorithm, encoder: given("encoder") };
}
