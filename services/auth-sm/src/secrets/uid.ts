/**
 * A new secret identifier: 16 random bytes in base64url, 22 characters. The first is never `-`, so that a uid can
 * stand on a command line where an option could.
 */
export function newSecretUid(randomBytes: (count: number) => Buffer): string {
  for (;;) {
    const uid = randomBytes(16).toString("base64url");
    if (!uid.startsWith("-")) return uid;
  }
}
