import { newId, newKeyPair } from "@coffer/crypto";
import { type HistoryState, sign } from "@coffer/history";
import t from "tap";
import { confirmedKey } from "../../src/trust/confirmed-key.ts";

await t.test("a key is sealed to a person only while the organization has the same one", async (t) => {
  const [alice, bob] = [`user:${newId()}` as const, `user:${newId()}` as const];
  const client = `client:${newId()}` as const;
  const [hers, his, another, machine] = await Promise.all([newKeyPair(), newKeyPair(), newKeyPair(), newKeyPair()]);
  const organizationId = newId();
  const founded = async (key: string): Promise<HistoryState> => {
    const set = [
      { who: alice, key: hers.publicKey, perm: "manage" as const, email: "alice@example.com" },
      { who: bob, key, perm: "read" as const, email: "bob@example.com" },
    ];
    return (await sign(null, `org:${organizationId}`, alice, hers.privateKey, { name: "Example", set })).state;
  };
  const set = [
    { who: alice, key: hers.publicKey, perm: "manage" as const },
    { who: bob, key: his.publicKey, perm: "read" as const },
    { who: client, key: machine.publicKey, perm: "read" as const },
  ];
  const first = { org: organizationId, name: "production", ver: 1, check: "0".repeat(64), set };
  const { state } = await sign(null, `folder:${newId()}`, alice, hers.privateKey, first);
  const same = await founded(his.publicKey);
  t.equal(await confirmedKey(same, { state }, bob), his.publicKey);
  t.equal(await confirmedKey(same, { state }, client), machine.publicKey, "an organization has no machines");
  t.equal(await confirmedKey(same, { state }, `user:${newId()}`), undefined);
  t.equal(await confirmedKey(await founded(another.publicKey), { state }, bob), undefined);
  t.equal(await confirmedKey(same, { state, ended: [bob] }, bob), undefined, "the caller has ended the access");
});
