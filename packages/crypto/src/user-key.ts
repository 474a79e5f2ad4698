import { decodeBase64Url } from "./base64.ts";
import { CryptoError } from "./crypto-error.ts";
import { derive } from "./derive.ts";

const exportKeyBytes = 64;

/**
 * The key that seals the user key: HKDF of the 64-byte export key of OPAQUE.
 *
 * @param exportKey base64url, as `@coffer/crypto/opaque` returns it
 * @throws CryptoError `invalid_key`
 */
export async function userKeySealKey(exportKey: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = readExportKey(exportKey);
  if (bytes.length !== exportKeyBytes) throw invalid();
  return derive(bytes, "coffer/v1/user-key");
}

function readExportKey(exportKey: string): Uint8Array {
  try {
    return decodeBase64Url(exportKey);
  } catch {
    throw invalid();
  }
}

function invalid(): CryptoError {
  return new CryptoError("invalid_key", `the export key is base64url of ${exportKeyBytes} bytes`);
}
