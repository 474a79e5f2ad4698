import { ready, server } from "@serenity-kit/opaque";
import { boxWithNonce } from "../../src/box.ts";
import { derive } from "../../src/derive.ts";
import {
  box,
  type Context,
  contexts,
  CryptoError,
  decodeBase64,
  decodeBase64Url,
  decodeRecord,
  decodeSecret,
  decodeText,
  fingerprint,
  openSealed,
  readAccessToken,
  readInviteToken,
  readRecoveryKey,
  seal,
  stableIds,
  unbox,
  unboxBound,
  userKeySealKey,
} from "../../src/index.ts";
import { finishLogin, finishRegistration, startLogin } from "../../src/opaque.ts";
import { toHex } from "../../src/sha256.ts";
import { checkMachineTokens } from "./check-machine-tokens.ts";
import type {
  AccessTokenVector,
  BoxVector,
  ContextVector,
  DerivationVector,
  KeyringVector,
  MachineTokenFile,
  OpaqueVector,
  PlaintextVector,
  PublicKeyVector,
  RecoveryKeyVector,
  SealedVector,
  StableIdVector,
  VectorFile,
} from "./shapes.ts";

/** The result of one vector; `problem` is null if the package agrees with it. */
export interface Checked {
  name: string;
  problem: string | null;
}

/** Takes a vector's context as it is; the brand is for code. */
const asContext = (text: string): Context => text as Context;
const fromHex = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/**
 * Checks one published file with this package; runs in Node and in a browser.
 * @param name of the file, without `.json`
 * @param file its parsed JSON
 */
export async function checkVectors(name: string, file: unknown): Promise<Checked[]> {
  // The files are this package's own; shapes.ts describes them.
  if (name === "machine-token") return checkMachineTokens(file as MachineTokenFile);
  const check = checks[name];
  if (check === undefined) return [{ name, problem: "no check knows this file" }];
  const checked: Checked[] = [];
  for (const vector of (file as VectorFile<{ name: string; error: string | null }>).vectors) {
    checked.push({ name: vector.name, problem: await problemOf(vector, check) });
  }
  return checked;
}

/** Resolves to the result and the expected value, or throws the expected code. */
type Check = (vector: never) => Promise<readonly [got: unknown, expected: unknown]>;

async function problemOf(vector: { error: string | null }, check: Check): Promise<string | null> {
  try {
    // Each check is given the vectors of its own file.
    const [got, expected] = await check(vector as never);
    if (vector.error !== null) return `accepted, expected ${vector.error}`;
    return JSON.stringify(got) === JSON.stringify(expected) ? null : `got ${JSON.stringify(got)}`;
  } catch (error) {
    const code = error instanceof CryptoError ? error.code : String(error);
    return code === vector.error ? null : `${code}, expected ${vector.error ?? "success"}`;
  }
}

/** The recorded messages, made again from the recorded states of the client. */
async function replayed({ registration, messages, password }: OpaqueVector): Promise<string[]> {
  if (registration === null || messages === null) return [];
  const { client_state: state, ke2: loginResponse } = messages;
  const login = await finishLogin({ state, loginResponse, password });
  const { registrationRecord } = await finishRegistration({
    state: registration.client_state,
    registrationResponse: registration.registration_response,
    password,
  });
  return [login.finishLoginRequest, login.sessionKey, maskingKey(registrationRecord)];
}

function recorded({ registration, messages }: OpaqueVector): string[] {
  if (registration === null || messages === null) return [];
  return [messages.ke3, messages.session_key, maskingKey(registration.registration_record)];
}

/** The part of a record that depends on the password and the server; the rest on a random nonce. */
function maskingKey(record: string): string {
  return toHex(decodeBase64Url(record).subarray(32, 96));
}

const neverBare =
  /^coffer\/v1\/(dek|fk|folder-key|vault-key|own-vault-key|private-key|user-key|join|keyring|vault-pin)(\/|$)/;

const checks: Record<string, Check> = {
  box: async (vector: BoxVector) => {
    const key = fromHex(vector.key);
    const context = asContext(vector.context);
    // No reader takes the bare layout for a key, a keyring or a pin.
    const plaintext = await (neverBare.test(vector.context) ? unboxBound : unbox)(key, vector.box, context);
    const bound = await unboxBound(key, vector.box, context).then(toHex, () => null);
    const again = await unbox(key, await box(key, plaintext, context), context);
    const written =
      vector.nonce === null ? vector.box : await boxWithNonce(key, fromHex(vector.nonce), plaintext, context);
    return [
      [toHex(plaintext), bound, toHex(again), written],
      [vector.plaintext, vector.bound ? vector.plaintext : null, vector.plaintext, vector.box],
    ];
  },
  context: (vector: ContextVector) => {
    const build = Object.entries(contexts).find(([name]) => name === vector.what)?.[1];
    // The vector's arguments are as many as its builder takes.
    return Promise.resolve().then(() => [
      (build as (...args: ContextVector["arguments"]) => string)(...vector.arguments),
      vector.context,
    ]);
  },
  derivation: async (vector: DerivationVector) => [
    toHex(await derive(fromHex(vector.secret), vector.info)),
    vector.key,
  ],
  "access-token": async (vector: AccessTokenVector) => {
    const { token, tokenHash, wrapKey } = await readAccessToken(vector.text);
    return [
      [token, tokenHash, toHex(wrapKey)],
      [vector.token, vector.token_hash, vector.wrap_key],
    ];
  },
  "invite-token": async (vector: AccessTokenVector) => {
    const { token, tokenHash, wrapKey } = await readInviteToken(vector.text);
    return [
      [token, tokenHash, toHex(wrapKey)],
      [vector.token, vector.token_hash, vector.wrap_key],
    ];
  },
  keyring: async ({ what, id, version, user_key, sealed, nonce, context, content }: KeyringVector) => {
    const [key, built] = [fromHex(user_key), contexts[what](id, version)];
    const opened = await unboxBound(key, sealed, built);
    const written = nonce === null ? null : await boxWithNonce(key, fromHex(nonce), opened, built);
    return [
      [built, JSON.parse(decodeText(opened)), written],
      [context, content, sealed],
    ];
  },
  "recovery-key": async (vector: RecoveryKeyVector) => {
    const { proof, proofHash, wrapKey } = await readRecoveryKey(vector.text);
    return [
      [proof, proofHash, toHex(wrapKey)],
      [vector.proof, vector.proof_hash, vector.wrap_key],
    ];
  },
  sealed: async (vector: SealedVector) => {
    const opened = await openSealed(decodeBase64(vector.private_key), vector.sealed, asContext(vector.context));
    return [toHex(opened), vector.plaintext];
  },
  "public-key": async (vector: PublicKeyVector) => {
    // Clients exchange only the canonical form; the bare point is for servers.
    if (vector.form === "point") return [await fingerprint(vector.canonical ?? ""), vector.fingerprint];
    const { hex, words } = await fingerprint(vector.public_key);
    const sealed = await seal(vector.public_key, new Uint8Array(32), contexts.userKey());
    return [
      { hex, words, parts: sealed.split(".").length },
      { ...vector.fingerprint, parts: 5 },
    ];
  },
  plaintext: (vector: PlaintextVector) => {
    const read = { secret: decodeSecret, record: decodeRecord, text: decodeText }[vector.kind];
    return Promise.resolve().then(() => [read(fromHex(vector.bytes)), vector.value]);
  },
  "stable-id": async (vector: StableIdVector) => [await stableIds(fromHex(vector.key), [vector.text]), [vector.id]],
  opaque: async (vector: OpaqueVector) => {
    await ready;
    const { state, startLoginRequest } = await startLogin(vector.password);
    const { loginResponse } = server.startLogin({
      serverSetup: vector.server_setup,
      userIdentifier: vector.user_identifier,
      registrationRecord: vector.registration_record,
      startLoginRequest,
    });
    const { exportKey } = await finishLogin({ state, loginResponse, password: vector.password });
    return [
      [exportKey, toHex(await userKeySealKey(exportKey)), ...(await replayed(vector))],
      [vector.export_key, vector.user_key_seal_key, ...recorded(vector)],
    ];
  },
};
