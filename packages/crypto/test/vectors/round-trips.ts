import {
  box,
  contexts,
  decodeText,
  encodeBase64,
  encodeText,
  fingerprint,
  newAccessToken,
  newId,
  newKey,
  newKeyPair,
  newRecoveryKey,
  newSecretUid,
  openSealed,
  publicKeyOf,
  readAccessToken,
  readRecoveryKey,
  seal,
  unboxBound,
  userKeySealKey,
} from "../../src/index.ts";
import { finishRegistration, startRegistration } from "../../src/opaque.ts";
import { ready, server } from "@serenity-kit/opaque";

/** The package reads its own random values; runs in Node and in a browser, and throws on a difference. */
export async function roundTrips(): Promise<void> {
  const uid = newSecretUid();
  const id = newId();
  const userKey = newKey();
  const { publicKey, privateKey } = await newKeyPair();

  same(await publicKeyOf(privateKey), publicKey);
  same((await fingerprint(publicKey)).words.split(" ").length, 6);
  const title = await box(userKey, encodeText("title"), contexts.title(uid));
  same(decodeText(await unboxBound(userKey, title, contexts.title(uid))), "title");
  const sealedKey = await seal(publicKey, userKey, contexts.sharedFolderKey(id));
  same(encodeBase64(await openSealed(privateKey, sealedKey, contexts.sharedFolderKey(id))), encodeBase64(userKey));

  for (const { wrapKey } of [await readAccessToken(newAccessToken()), await readRecoveryKey(newRecoveryKey())]) {
    const wrapped = await box(wrapKey, userKey, contexts.userKey());
    same(encodeBase64(await unboxBound(wrapKey, wrapped, contexts.userKey())), encodeBase64(userKey));
  }

  await ready;
  const password = "pässword";
  const { state, registrationRequest } = await startRegistration(password);
  const setup = { serverSetup: server.createSetup(), userIdentifier: "ada@example.com" };
  const { registrationResponse } = server.createRegistrationResponse({ ...setup, registrationRequest });
  const { exportKey } = await finishRegistration({ state, registrationResponse, password });
  same((await userKeySealKey(exportKey)).length, 32);
}

function same(got: unknown, expected: unknown): void {
  if (got !== expected) throw new Error(`got ${String(got)}, expected ${String(expected)}`);
}
