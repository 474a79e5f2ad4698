import { m } from "../messages/messages.ts";
import type { PasskeyAnswer, PasskeyView } from "../protocol/session.ts";
import { CallError } from "./worker-client.ts";

// A worker cannot use a passkey. So the page asks for it and moves the answer to the worker, which seals and opens.

type Asked = Pick<PasskeyView, "id" | "salt">;

const failed = (code: string): CallError => new CallError({ code, message: code, retryAfterSeconds: null });

/** The codes of what a browser says; anything else is `passkey_cancelled`. */
const codes: Partial<Record<string, string>> = {
  SecurityError: "passkey_address",
  NotSupportedError: "passkey_unsupported",
  ConstraintError: "passkey_unsupported",
};

/**
 * Makes a passkey that answers to the salt.
 * @throws CallError `passkey_unsupported` without the PRF extension, `passkey_address`, `passkey_cancelled`
 */
export async function makePasskey(salt: string, email: string): Promise<PasskeyAnswer> {
  if (!(await mayHavePrf())) throw failed("passkey_unsupported");
  const credential = await publicKey(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { id: location.hostname, name: m.product },
        // A handle of its own, so that another device's passkey of the person is not replaced.
        user: { id: random(), name: email, displayName: email },
        // No service verifies an answer: what counts is the output of the PRF.
        challenge: random(),
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
        authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
        extensions: { prf: { eval: { first: bytesOf(salt) } } },
      },
    }),
  );
  const { id } = credential;
  try {
    if (credential.getClientExtensionResults().prf?.enabled !== true) throw failed("passkey_unsupported");
    // A security key answers to a salt only when it is asked again.
    return answerOf(credential) ?? (await askPasskey([{ id, salt }]));
  } catch (error) {
    discardPasskey(id);
    throw error;
  }
}

/**
 * Asks for one of these passkeys.
 * @throws CallError `passkey_address`, `passkey_cancelled`, and `passkey_refused` without an output of the PRF
 */
export async function askPasskey(passkeys: readonly Asked[]): Promise<PasskeyAnswer> {
  const credential = await publicKey(() =>
    navigator.credentials.get({
      publicKey: {
        rpId: location.hostname,
        challenge: random(),
        allowCredentials: passkeys.map(({ id }) => ({ type: "public-key", id: bytesOf(id) })),
        userVerification: "required",
        extensions: {
          prf: {
            evalByCredential: Object.fromEntries(passkeys.map(({ id, salt }) => [id, { first: bytesOf(salt) }])),
          },
        },
      },
    }),
  );
  const answer = answerOf(credential);
  if (answer === null) throw failed("passkey_refused");
  return answer;
}

/** Tells the browser that the passkey opens nothing any more, so that it need not offer it. */
export function discardPasskey(id: string): void {
  const { PublicKeyCredential: kind } = globalThis as { PublicKeyCredential?: Ahead };
  kind?.signalUnknownCredential?.({ rpId: location.hostname, credentialId: id }).catch(() => undefined);
}

/** What only newer browsers have. */
interface Ahead {
  getClientCapabilities?(): Promise<Partial<Record<string, boolean>>>;
  signalUnknownCredential?(credential: { rpId: string; credentialId: string }): Promise<void>;
}

async function mayHavePrf(): Promise<boolean> {
  const { PublicKeyCredential: kind } = globalThis as { PublicKeyCredential?: Ahead };
  if (kind === undefined) return false;
  return (await kind.getClientCapabilities?.())?.["extension:prf"] !== false;
}

async function publicKey(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  let credential: Credential | null;
  try {
    credential = await ask();
  } catch (error) {
    throw failed((error instanceof DOMException ? codes[error.name] : undefined) ?? "passkey_cancelled");
  }
  if (credential instanceof PublicKeyCredential) return credential;
  throw failed("passkey_cancelled");
}

function answerOf(credential: PublicKeyCredential): PasskeyAnswer | null {
  const first = credential.getClientExtensionResults().prf?.results?.first;
  return first instanceof ArrayBuffer ? { id: credential.id, prf: first } : null;
}

function random(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(32));
}

function bytesOf(base64Url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64Url.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
}
