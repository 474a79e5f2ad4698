/**
 * A new secret identifier: 16 random bytes in base64url, 22 characters. It never starts with `-`,
 * so that a command line does not take it for an option.
 */
export function newSecretUid(randomBytes: (count: number) => Buffer): string {
  for (;;) {
    const uid = randomBytes(16).toString("base64url");
    if (!uid.startsWith("-")) return uid;
  }
}
