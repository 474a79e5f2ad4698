import { encodeBase64Url } from "./base64.ts";
import { signEs256 } from "./es256.ts";
import { encodeText } from "./utf8.ts";

/** How long a machine's token lives. The server accepts an hour; a shorter life makes a copied token worth less. */
export const machineTokenSeconds = 300;

/** A token that a machine signed for itself. */
export interface MachineToken {
  token: string;
  /** When the server ceases to accept it, Unix seconds. */
  expiresAt: number;
}

/**
 * Signs a machine's token: JWT, ES256, five minutes.
 *
 * @param machine its `client_id`, its private key (PKCS#8 DER) and the base address of the server it is for
 * @param now the time by the clock that the server will agree with
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
