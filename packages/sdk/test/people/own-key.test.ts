import { box, contexts, decodeBase64, encodeBase64, fingerprint, newKey, newKeyPair } from "@coffer/crypto";
import t from "tap";
import { personSelf } from "../../src/histories/self.ts";
import { machineFingerprint, personClient } from "../../src/index.ts";
import { sessionOf } from "../../src/people/person-session.ts";
import type { LoginView } from "../../src/views.ts";
import { newSession } from "../server/vault-server.ts";

const url = "http://127.0.0.1:9";
const session = await newSession(url);
const { publicKey: foreign, privateKey: foreignPrivate } = await newKeyPair();

const answer: LoginView = {
  ...{ access_token: "a", expires_in: 900, refresh_token: "r", refresh_expires_in: 86_400, session_id: "s" },
  user: { id: session.user.id, email: session.user.email, name: null, created_at: "" },
  encrypted_user_key: "",
  public_key: session.public_key,
  encrypted_private_key: session.encrypted_private_key,
};

await t.test("a session is made only when its public key is that of the private key", async (t) => {
  t.match(await sessionOf(url, answer, session.user_key, 0), { public_key: session.public_key });
  const swapped = await box(newKey(), foreignPrivate, contexts.privateKey());
  const ownBox = await box(decodeBase64(session.user_key), foreignPrivate, contexts.privateKey());
  for (const lie of [
    { public_key: foreign },
    { encrypted_private_key: swapped },
    { public_key: foreign, encrypted_private_key: swapped },
    { encrypted_private_key: ownBox },
    { encrypted_private_key: "" },
    { public_key: "" },
  ])
    await t.rejects(sessionOf(url, { ...answer, ...lie }, session.user_key, 0), { code: "bad_answer" });
});

await t.test("a person's fingerprint is that of the private key, whatever the session says", async (t) => {
  const own = await fingerprint(session.public_key);
  t.same(await personClient({ ...session, public_key: foreign }, url).fingerprint(), own);
});

await t.test("histories are signed for the key of the private key, whatever the session says", async (t) => {
  t.match(await personSelf({ ...session, public_key: foreign }), { publicKey: session.public_key });
});

await t.test(
  "a machine's fingerprint is that of its private key; another public key beside it is refused",
  async (t) => {
    const { publicKey: public_key, privateKey } = await newKeyPair();
    const private_key = encodeBase64(privateKey);
    t.same(await machineFingerprint({ private_key, public_key }), await fingerprint(public_key));
    for (const broken of [
      { private_key, public_key: foreign },
      { private_key: "", public_key },
      { private_key: private_key.slice(4), public_key },
      { private_key: "no base64!", public_key },
    ])
      await t.rejects(machineFingerprint(broken), { code: "configuration", message: /^(?!.*MI)/ });
  },
);
