/** The strings that every KeePass entry has, and what they are in a record. */
export const standardKeys: Readonly<Record<string, string>> = {
  Title: "name",
  UserName: "username",
  Password: "password",
  Notes: "notes",
};

/** Further addresses, as KeePassXC and Keepass2Android write them: `KP2A_URL`, `KP2A_URL_1` and so on. */
export const moreUrls = /^KP2A_URL(?:_\d+)?$/;

/** KeePassXC's strings of a passkey, and what they are in a record. */
export const passkeyKeys: Readonly<Record<string, string>> = {
  KPEX_PASSKEY_USERNAME: "username",
  KPEX_PASSKEY_CREDENTIAL_ID: "credential_id",
  KPEX_PASSKEY_PRIVATE_KEY_PEM: "private_key",
  KPEX_PASSKEY_RELYING_PARTY: "rp_id",
  KPEX_PASSKEY_USER_HANDLE: "user_handle",
};

/** Whether a program gives the string of that name a meaning, so that no field of somebody's can have it. */
export function isReserved(key: string): boolean {
  return (
    key in standardKeys ||
    key === "URL" ||
    key === "otp" ||
    moreUrls.test(key) ||
    /^(?:KPEX_|TimeOtp-|HmacOtp-|TOTP )/.test(key)
  );
}
