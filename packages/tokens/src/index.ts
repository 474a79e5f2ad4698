export { canonicalPublicKey } from "./canonical-public-key.ts";
export { isForPerson } from "./is-for-person.ts";
export { createKeySet, type KeySet } from "./key-set.ts";
export { createRevocations, type Revocation, type Revocations, type RevocationsOptions } from "./revocations.ts";
export { generateSigningKey, type PublicJwk, type SigningKey } from "./signing-key.ts";
export { signUserToken } from "./sign-user-token.ts";
export { invalidToken, type RejectionReason, TokenRejection } from "./token-rejection.ts";
export { type MachineClaims, type MachineVerifierOptions, verifyMachineToken } from "./verify-machine-token.ts";
export { type UserClaims, type UserVerifierOptions, verifyUserToken } from "./verify-user-token.ts";
