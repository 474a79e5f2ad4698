import { encodeBase64Url } from "./base64.ts";
import { signEs256 } from "./es256.ts";
import { encodeText } from "./utf8.ts";

/**
 * The lifetime of a machine's token. The server accepts one hour; a shorter lifetime limits the use
 * of a copied token.
 */
export const machineTokenSeconds = 300;

/** A token that a machine signed for itself. */
export interface MachineToken {
  token: string;
  /** When the server stops accepting it, Unix seconds. */
  expiresAt: number;
}

/**
 * Signs a machine's token: JWT, ES256, five minutes.
 * @param machine its `client_id`, its private key (PKCS#8 DER) and the base address of the server
 * @param now the current time by a clock that agrees with the server's
 * @throws CryptoError `invalid_key`
 */
export async function signMachineToken(
  machine: { clientId: string; privateKey: Uint8Array; audience: string },
  now: Date,
): Promise<MachineToken> {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const expiresAt = issuedAt + machineTokenSeconds;
  const signed = [
    { alg: "ES256", typ: "JWT" },
    { sub: machine.clientId, aud: machine.audience, iat: issuedAt, exp: expiresAt },
  ]
    .map((part) => encodeBase64Url(encodeText(JSON.stringify(part))))
    .join(".");
  const signature = await signEs256(machine.privateKey, encodeText(signed));
  return { token: `${signed}.${encodeBase64Url(signature)}`, expiresAt };
}
