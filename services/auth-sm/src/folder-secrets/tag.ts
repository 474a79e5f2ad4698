/**
 * The entity tag differs without the ciphertext, because a role can change while the secret does
 * not.
 */
export function tagFor({ ciphertext }: { ciphertext: boolean }, tag: string): string {
  return ciphertext ? tag : `${tag}.metadata`;
}
