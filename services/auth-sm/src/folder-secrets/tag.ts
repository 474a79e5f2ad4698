/** The entity tag of what a person sees: another one without the ciphertext, since a role may change while nothing else does. */
export function tagFor({ ciphertext }: { ciphertext: boolean }, tag: string): string {
  return ciphertext ? tag : `${tag}.metadata`;
}
