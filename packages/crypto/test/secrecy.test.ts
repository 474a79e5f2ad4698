import { inspect } from "node:util";
import t from "tap";
import {
  box,
  contexts,
  CryptoError,
  decodeRecord,
  decodeSecret,
  encodeSecret,
  encodeText,
  newKey,
  newKeyPair,
  newSecretUid,
  openSealed,
  publicKeyOf,
  readAccessToken,
  readRecoveryKey,
  seal,
  unbox,
  userKeySealKey,
} from "../src/index.ts";

/** A word in every secret input; no error may show it. */
const canary = "canary7";
const context = contexts.data(newSecretUid());

async function errorOf(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return undefined;
}

void t.test("no error shows its input", async (t) => {
  const { privateKey } = await newKeyPair();
  const attempts: Record<string, () => unknown> = {
    "a plaintext that is no JSON": () => decodeSecret(encodeText(canary)),
    "a payload of the wrong shape": () => decodeSecret(encodeText(JSON.stringify({ name: canary }))),
    "a record of the wrong shape": () => decodeRecord(encodeText(JSON.stringify({ a: [canary] }))),
    "a payload that is none": () => encodeSecret(JSON.parse(`{"name":"${canary}"}`) as never),
    "a text that is not well formed": () => encodeText(`${canary}\ud800`),
    "a token that is none": () => readAccessToken(`cft1_${canary}`),
    "a recovery key that is none": () => readRecoveryKey(`cfr1_${canary}`),
    "an export key that is none": () => userKeySealKey(canary),
    "a key of the wrong length": () => box(encodeText(canary), encodeText(""), context),
    "a box that is no base64": () => unbox(newKey(), `${canary}!`, context),
    "a box that does not open": () => unbox(newKey(), btoa(canary.repeat(9)), context),
    "a private key that is none": () => publicKeyOf(encodeText(canary)),
    "a public key that is none": () => seal(canary, newKey(), context),
    "a seal that does not open": () => openSealed(privateKey, `${canary}.a.b.c.d`, context),
    "an id that is none": () => contexts.folderKey(canary),
  };
  for (const [name, run] of Object.entries(attempts)) {
    const error = await errorOf(run);
    t.ok(error instanceof CryptoError, `${name} is refused`);
    t.notMatch(inspect(error, { depth: 9, showHidden: true }), canary, name);
    t.equal((error as CryptoError).cause, undefined);
  }
});
