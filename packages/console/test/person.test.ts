import { CofferError } from "@coffer/sdk";
import t from "tap";
import { confirmMember } from "../src/worker/organization/person.ts";
import type { Workspace } from "../src/worker/workspace.ts";

const [alice, carol] = ["a", "c"].map((digit) => `0000000${digit}-0000-7000-8000-000000000000`) as [string, string];

interface Seen {
  email: string;
  words: string;
  role?: "owner" | "admin" | "member";
}

/** Whether a member whom the service shows like this is signed, after the person has read `compared`. */
async function signed({ role = "member", ...shown }: Seen, compared: Seen) {
  let isSigned = false;
  const confirm = async (id: string, ask: (holder: object) => Promise<boolean>) => {
    isSigned = await ask({ id, name: shown.email, role, fingerprint: { words: shown.words, hex: "" } });
    if (!isSigned) throw new CofferError("access_denied", "not confirmed");
  };
  const members = {
    confirm,
    confirmed: () => Promise.resolve([{ user_id: alice, email: "alice@example.com", public_key: "key" }]),
    publicKey: () => Promise.resolve({ public_key: "key" }),
    sessions: () => Promise.resolve([]),
  };
  const client = { members, folders: { list: () => Promise.resolve([]) }, stillNaming: () => Promise.resolve([]) };
  const workspace = { client } as unknown as Workspace;
  const input = { userId: carol, role: "member" as const, ...compared };
  await confirmMember(workspace, input, () => Promise.resolve("")).catch(() => undefined);
  return isSigned;
}

const words = "abandon ability able about above absent";

await t.test("a key is signed for the e-mail and the words that were compared", async (t) => {
  const email = "carol@example.com";
  t.equal(await signed({ email, words }, { email, words }), true);
  t.equal(await signed({ email, words: "zoo zone zero youth young yard" }, { email, words }), false);
  t.equal(await signed({ email: "mallory@example.com", words }, { email, words }), false);
});

await t.test("a key is not signed for another role than the one that was shown", async (t) => {
  const email = "carol@example.com";
  t.equal(await signed({ email, words, role: "admin" }, { email, words }), false);
  t.equal(await signed({ email, words, role: "admin" }, { email, words, role: "admin" }), true);
});

await t.test("a key is not signed for an e-mail that the history has for another member", async (t) => {
  for (const email of ["alice@example.com", "Alice@Example.com"])
    t.equal(await signed({ email, words }, { email, words }), false, email);
});
