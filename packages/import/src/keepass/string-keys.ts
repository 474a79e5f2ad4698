/** The strings of every KeePass entry, and their fields in a record. */
export const standardKeys: ReadonlyMap<string, string> = new Map([
  ["Title", "name"],
  ["UserName", "username"],
  ["Password", "password"],
  ["Notes", "notes"],
]);

/** Further addresses of KeePassXC and Keepass2Android: `KP2A_URL`, `KP2A_URL_1` and so on. */
export const moreUrls = /^KP2A_URL(?:_(\d+))?$/;

/**
 * The addresses of an entry in order: programs sort strings by name, where `URL` comes after them.
 */
export function urlsOf(values: ReadonlyMap<string, string>): string[] {
  const numberOf = (key: string): number => Number(moreUrls.exec(key)?.[1] ?? 0);
  const more = [...values].filter(([key]) => moreUrls.test(key)).sort(([a], [b]) => numberOf(a) - numberOf(b));
  return [values.get("URL") ?? "", ...more.map(([, value]) => value)];
}

/** KeePassXC's strings of a passkey, and their fields in a record. */
export const passkeyKeys: ReadonlyMap<string, string> = new Map([
  ["KPEX_PASSKEY_USERNAME", "username"],
  ["KPEX_PASSKEY_CREDENTIAL_ID", "credential_id"],
  ["KPEX_PASSKEY_PRIVATE_KEY_PEM", "private_key"],
  ["KPEX_PASSKEY_RELYING_PARTY", "rp_id"],
  ["KPEX_PASSKEY_USER_HANDLE", "user_handle"],
]);

/** Other names for some of them in Strongbox and KeePassXC up to 2.7.7. KeePassXC prefers these. */
export const olderPasskeyKeys: ReadonlyMap<string, string> = new Map([
  ["KPEX_PASSKEY_GENERATED_USER_ID", "credential_id"],
  ["KPXC_PASSKEY_USERNAME", "username"],
]);

/** Whether the string is part of a passkey, also with an unknown name. */
export function isOfPasskey(key: string): boolean {
  return key.startsWith("KPEX_PASSKEY_") || olderPasskeyKeys.has(key);
}

/** Whether programs give a string of that name a meaning, so that no custom field can have it. */
export function isReserved(key: string): boolean {
  return (
    standardKeys.has(key) ||
    key === "URL" ||
    key === "otp" ||
    moreUrls.test(key) ||
    isOfPasskey(key) ||
    /^(?:KPEX_|TimeOtp-|HmacOtp-|TOTP )/.test(key)
  );
}
