export { type AccessToken, accessTokenPrefix, newAccessToken, readAccessToken } from "./access-token.ts";
export { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from "./base64.ts";
export { box, unbox, unboxBound } from "./box.ts";
export { cacheKey } from "./cache-key.ts";
export { type Context, contexts } from "./contexts.ts";
export { CryptoError, type CryptoErrorCode } from "./crypto-error.ts";
export { signEs256, verifyEs256 } from "./es256.ts";
export { fingerprint, type Fingerprint } from "./fingerprint.ts";
export { hiddenPinKey } from "./hidden-pin-key.ts";
export { newId, newSecretUid } from "./ids.ts";
export { type InviteToken, inviteTokenPrefix, newInviteToken, readInviteToken } from "./invite-token.ts";
export { keyCheck } from "./key-check.ts";
export { type KeyPair, newKeyPair, publicKeyOf } from "./key-pair.ts";
export { newKey } from "./keys.ts";
export { type MachineToken, machineTokenSeconds, signMachineToken } from "./machine-token.ts";
export { passkeyKey } from "./passkey-key.ts";
export {
  decodeRecord,
  decodeSecret,
  encodeRecord,
  encodeSecret,
  type RecordPayload,
  type SecretPayload,
} from "./plaintexts.ts";
export { importPublicKey } from "./public-key.ts";
export { newRecoveryKey, readRecoveryKey, type RecoveryKey, recoveryKeyPrefix } from "./recovery-key.ts";
export { openSealed, seal } from "./seal.ts";
export { sha256Hex } from "./sha256.ts";
export { stableIds } from "./stable-ids.ts";
export { userKeySealKey } from "./user-key.ts";
export { decodeText, encodeText } from "./utf8.ts";
