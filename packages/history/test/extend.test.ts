import { decodeBase64Url, decodeText, encodeBase64Url } from "@coffer/crypto";
import { extend, extendAll, holderOf, makeInvitation, openInvitation, sign } from "@coffer/history";
import type { Change, Claims, Resource } from "@coffer/history";
import t from "tap";
import { check, forge, found, holder, newActor, newUuid, signAs } from "./people.ts";

const folder: Resource = `folder:${newUuid()}`;
const vault: Resource = `vault:${newUuid()}`;
const org: Resource = `org:${newUuid()}`;
const invalid = { code: "history_invalid" };
const tag = "cd".repeat(32);

void t.test("a history says who holds what, under which key", async (t) => {
  const [alice, bob, machine] = [await newActor(), await newActor(), await newActor("client")];
  const first = await found(folder, alice);
  const shared = await signAs(first.state, folder, alice, { set: [holder(bob, "write", folder)] });
  const invitation = { tag, wrapKey: new Uint8Array(32).fill(7), kind: "client", perm: "read" } as const;
  const invited = await signAs(shared.state, folder, alice, {
    invite: [await makeInvitation(shared.state, folder, invitation)],
  });
  const joinKey = await openInvitation(invited.state.res, invited.state.invitations[0], invitation.wrapKey);
  const joined = await sign(invited.state, folder, `invite:${tag}`, joinKey, {
    set: [holder(machine, "read", folder)],
  });
  const rotated = await signAs(joined.state, folder, alice, { drop: [bob.who], ver: 2, check: "ef".repeat(32) });

  const texts = [first, shared, invited, joined, rotated].map(({ text }) => text);
  const { state, hashes } = await extendAll(null, folder, texts);
  t.strictSame(state, rotated.state);
  t.equal(hashes.length, 5);
  t.match(state, { ver: 2, check: "ef".repeat(32), name: "production", head: { seq: 4 }, invitations: [] });
  t.strictSame(
    state.holders.map(({ who, perm }) => [who, perm]),
    [
      [machine.who, "read"],
      [alice.who, "manage"],
    ].sort(),
  );
  t.strictSame(JSON.parse(JSON.stringify(state)), state, "it survives JSON");
  t.strictSame(await extend(joined.state, folder, rotated.text), state, "from any state on");
});

void t.test("an entry in the wrong place", async (t) => {
  const alice = await newActor();
  const first = await found(folder, alice);
  const second = await signAs(first.state, folder, alice, { name: "a" });
  const other = await signAs(first.state, folder, alice, { name: "b" });
  const third = await signAs(second.state, folder, alice, { name: "c" });
  await t.rejects(extend(null, folder, second.text), { ...invalid, res: folder, seq: 0 });
  await t.rejects(extend(second.state, folder, second.text), invalid, "once more");
  await t.rejects(extendAll(null, folder, [first.text, third.text]), { ...invalid, seq: 1 }, "one is missing");
  await t.rejects(
    extendAll(null, folder, [first.text, other.text, third.text]),
    { ...invalid, seq: 2 },
    "another chain",
  );
  await t.rejects(extend(null, vault, first.text), invalid, "of another resource");
});

void t.test(
  "a wrong signature in the middle of a long history is an error of the call, and ends no process",
  async (t) => {
    const alice = await newActor();
    const entries = [await found(folder, alice)];
    for (let seq = 1; seq <= 60; seq += 1) {
      const { state } = entries.at(-1) ?? { state: null };
      entries.push(await signAs(state, folder, alice, { name: `name ${seq}` }));
    }
    const texts = entries.map(({ text }) => text);
    const signature = texts[2]?.split(".")[2] ?? "";
    texts[1] = [...(texts[1] ?? "").split(".").slice(0, 2), signature].join(".");
    const unhandled: unknown[] = [];
    const hear = (reason: unknown): unknown => unhandled.push(reason);
    process.on("unhandledRejection", hear);
    await t.rejects(extendAll(null, folder, texts), { ...invalid, seq: 1 });
    process.off("unhandledRejection", hear);
    t.strictSame(unhandled, []);
  },
);

void t.test("a signer who may not sign", async (t) => {
  const [alice, bob, eve] = [await newActor(), await newActor(), await newActor()];
  const { state } = await found(folder, alice, newUuid(), [holder(bob, "write", folder)]);
  const next: Omit<Claims, "by"> = { res: folder, seq: 1, prev: state.head.hash, name: "mine" };
  await t.rejects(extend(state, folder, await forge(bob.privateKey, { ...next, by: bob.who })), invalid, "a writer");
  await t.rejects(extend(state, folder, await forge(eve.privateKey, { ...next, by: eve.who })), invalid, "a stranger");
  await t.rejects(
    extend(state, folder, await forge(eve.privateKey, { ...next, by: alice.who })),
    invalid,
    "a wrong key",
  );
  const join = { ...next, by: `invite:${tag}`, set: [holder(eve, "read", folder)] };
  await t.rejects(
    extend(state, folder, await forge(eve.privateKey, join)),
    invalid,
    "an invitation that no entry made",
  );
});

void t.test("a signature over the same entry is another text, and the same entry", async (t) => {
  const alice = await newActor();
  const first = await found(folder, alice);
  const [head = "", payload = "", signature = ""] = first.text.split(".");
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const bytes = decodeBase64Url(signature);
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).toString("hex")}`);
  const other = new Uint8Array([
    ...bytes.subarray(0, 32),
    ...Buffer.from((n - s).toString(16).padStart(64, "0"), "hex"),
  ]);
  const state = await extend(null, folder, `${head}.${payload}.${encodeBase64Url(other)}`);
  t.equal(state.head.hash, first.state.head.hash);
});

void t.test("what an entry may say, by its kind and place", async (t) => {
  const [alice, bob, machine] = [await newActor(), await newActor(), await newActor("client")];
  const refused = async (res: Resource, why: string, change: Change): Promise<void> => {
    const { state } = await found(res, alice);
    await t.rejects(signAs(state, res, alice, change), invalid, `${res.split(":")[0] ?? ""}: ${why}`);
  };
  await refused(folder, "a version that is not the next", { ver: 3, check });
  await refused(folder, "a version without its check", { ver: 2 });
  await refused(folder, "a second organization", { org: newUuid() });
  await refused(folder, "a drop of a person who is no holder", { drop: [bob.who], ver: 2, check });
  await refused(folder, "a machine that manages", { set: [holder(machine, "manage", folder)] });
  await refused(folder, "a holder with an e-mail", { set: [{ ...holder(bob, "read", folder), email: bob.email }] });
  await refused(folder, "a person set twice", { set: [holder(bob, "read", folder), holder(bob, "write", folder)] });
  await refused(folder, "a person set and dropped", {
    set: [holder(alice, "manage", folder)],
    drop: [alice.who],
    ver: 2,
    check,
  });
  await refused(folder, "the last manager dropped", { drop: [alice.who], ver: 2, check });
  await refused(folder, "the last manager lowered", { set: [holder(alice, "read", folder)] });
  await refused(folder, "a cut", { cut: {} });
  await refused(vault, "a machine", { set: [holder(machine, "read", vault)] });
  await refused(org, "a key", { ver: 1, check });
  await refused(org, "a machine", { set: [holder(machine, "read", org)] });
  await refused(org, "a holder without an e-mail", { set: [{ who: bob.who, key: bob.publicKey, perm: "read" }] });
  await refused(org, "a writer", { set: [holder(bob, "write", org)] });
  await refused(org, "a cut without a drop", { cut: {} });
  const shared = await signAs((await found(folder, alice)).state, folder, alice, {
    set: [holder(bob, "read", folder)],
  });
  await t.rejects(signAs(shared.state, folder, alice, { drop: [bob.who] }), invalid, "a removal without a rotation");
});

void t.test("the first entry", async (t) => {
  const [alice, bob] = [await newActor(), await newActor()];
  const set = [holder(alice, "manage", folder)];
  const good = { name: "production", org: newUuid(), ver: 1, check, set };
  await t.resolves(signAs(null, folder, alice, good));
  await t.resolves(signAs(null, folder, alice, { ...good, ver: 7 }), "an adopted folder has a version already");
  await t.rejects(signAs(null, folder, bob, good), invalid, "the signer is not in the set");
  await t.rejects(signAs(null, folder, alice, { ...good, set: [holder(alice, "write", folder)] }), invalid);
  for (const missing of ["name", "org", "set"] as const)
    await t.rejects(signAs(null, folder, alice, { ...good, [missing]: undefined }), invalid, missing);
  await t.rejects(signAs(null, folder, alice, { name: "production", org: newUuid(), set }), invalid, "no key");
  await t.rejects(signAs(null, org, alice, good), invalid, "an organization with the claims of a folder");
});

void t.test("a join does what was allowed, once, and nothing else", async (t) => {
  const [alice, bob, eve] = [await newActor(), await newActor(), await newActor()];
  const first = await found(org, alice);
  const wrapKey = new Uint8Array(32).fill(9);
  const request = { tag, wrapKey, kind: "user", perm: "read", email: bob.email } as const;
  const { state } = await signAs(first.state, org, alice, {
    invite: [await makeInvitation(first.state, org, request)],
  });
  await t.rejects(
    openInvitation(state.res, state.invitations[0], new Uint8Array(32)),
    { code: "join_invalid" },
    "another token",
  );
  const key = await openInvitation(state.res, state.invitations[0], wrapKey);
  const join = (change: Change) => sign(state, org, `invite:${tag}`, key, change);
  const bobs = holder(bob, "read", org);
  await t.rejects(join({ set: [{ ...bobs, perm: "manage" }] }), invalid, "more permission");
  await t.rejects(join({ set: [{ ...bobs, email: eve.email }] }), invalid, "another e-mail");
  await t.rejects(join({ set: [bobs, holder(eve, "read", org)] }), invalid, "two");
  await t.rejects(join({ set: [bobs], name: "mine" }), invalid, "a name besides");
  await t.rejects(join({ set: [{ ...bobs, who: alice.who }] }), invalid, "in the place of a holder");
  const joined = await join({ set: [bobs] });
  t.match(holderOf(joined.state, bob.who), { perm: "read" });
  await t.rejects(
    sign(joined.state, org, `invite:${tag}`, key, { set: [{ ...bobs, who: `user:${newUuid()}` }] }),
    invalid,
    "twice",
  );
});

void t.test("who loses the right to manage loses the invitations that are open", async (t) => {
  const [alice, bob] = [await newActor(), await newActor()];
  const first = await found(folder, alice, newUuid(), [holder(bob, "manage", folder)]);
  const request = { tag, wrapKey: new Uint8Array(32), kind: "client", perm: "read" } as const;
  const invited = await signAs(first.state, folder, bob, {
    invite: [await makeInvitation(first.state, folder, request)],
  });
  t.equal(invited.state.invitations.length, 1);
  const lowered = await signAs(invited.state, folder, alice, { set: [holder(bob, "write", folder)] });
  t.equal(lowered.state.invitations.length, 0);
  const dropped = await signAs(invited.state, folder, alice, { drop: [bob.who], ver: 2, check });
  t.equal(dropped.state.invitations.length, 0);
});

void t.test("the form of an entry", async (t) => {
  const alice = await newActor();
  const { text, state } = await found(folder, alice);
  const [head = "", payload = "", signature = ""] = text.split(".");
  const claims = decodeText(decodeBase64Url(payload));
  const refused = async (why: string, entry: string): Promise<void> => {
    await t.rejects(extend(null, folder, entry), invalid, why);
  };
  await refused("no JWS", "entry");
  await refused("padding", `${head}.${payload}.${signature}=`);
  await refused("four parts", `${text}.`);
  await refused(
    "a longer header",
    await forge(alice.privateKey, claims, '{"alg":"ES256","typ":"coffer-history+jwt","x":1}'),
  );
  await refused(
    "another order in it",
    await forge(alice.privateKey, claims, '{"typ":"coffer-history+jwt","alg":"ES256"}'),
  );
  await refused(
    "another algorithm",
    await forge(alice.privateKey, claims, '{"alg":"none","typ":"coffer-history+jwt"}'),
  );
  await refused("an unknown claim", await forge(alice.privateKey, claims.replace("{", '{"iat":1,')));
  await refused("a claim twice", await forge(alice.privateKey, claims.replace("{", '{"name":"other",')));
  await refused("a member twice", await forge(alice.privateKey, claims.replace('"perm":', '"perm":"read","perm":')));
  for (const depth of [3000, 20_000])
    await refused(
      `a claim ${depth} levels deep`,
      await forge(alice.privateKey, claims.replace("{", `{"x":${"[".repeat(depth)}${"]".repeat(depth)},`)),
    );
  await refused("__proto__", await forge(alice.privateKey, claims.replace("{", '{"__proto__":{},')));
  await refused(
    "a compressed key",
    await forge(alice.privateKey, claims.replaceAll(alice.publicKey, alice.publicKey.slice(0, 80))),
  );
  await refused("an empty list", await forge(alice.privateKey, claims.replace("{", '{"invite":[],')));
  await refused("a float", await forge(alice.privateKey, claims.replace('"seq":0', '"seq":0.5')));
  await refused("no JSON", await forge(alice.privateKey, claims.slice(1)));
  const long = "x".repeat(128);
  await t.resolves(signAs(state, folder, alice, { name: long }));
  await t.rejects(signAs(state, folder, alice, { name: `${long}x` }), invalid, "a long name");
  await t.rejects(signAs(state, folder, alice, { name: "a\u0085b" }), invalid, "a control character");
});

void t.test("64 KiB are the most", async (t) => {
  const alice = await newActor();
  const first = await found(org, alice);
  const cut = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [n.toString(16).padStart(64, "0"), [n, check] as [number, string]]),
    );
  const bob = await newActor();
  const { state } = await signAs(first.state, org, alice, { set: [holder(bob, "read", org)] });
  const begun = await signAs(state, org, alice, { drop: [bob.who], cut: cut(300) });
  t.ok(begun.text.length <= 64 * 1024);
  await t.rejects(signAs(state, org, alice, { drop: [bob.who], cut: cut(400) }), invalid);
  const more = { ff00000000000000000000000000000000000000000000000000000000000000: [1, check] as [number, string] };
  const continued = await signAs(begun.state, org, alice, { drop: [bob.who], cut: more });
  t.equal(Object.keys(continued.state.former[0]?.cut ?? {}).length, 301, "a cut goes on in the next entry");
  const between = await signAs(continued.state, org, alice, { name: "Other" });
  const [name] = Object.keys(more) as [string]; // it has one
  const again = await signAs(between.state, org, alice, { drop: [bob.who], cut: { [name]: [2, check] } });
  t.same(again.state.former[0]?.cut[name], [2, check], "a later cut replaces it");
  t.equal(Object.keys(again.state.former[0]?.cut ?? {}).length, 301, "and keeps the rest");
  const together = { drop: [bob.who], cut: more, name: "Third" };
  await t.rejects(signAs(again.state, org, alice, together), invalid, "with nothing else");
  await t.rejects(signAs(again.state, org, alice, { drop: [bob.who] }), invalid, "a second drop without a cut");
  const stranger = (await newActor()).who;
  await t.rejects(
    signAs(again.state, org, alice, { drop: [stranger], cut: more }),
    invalid,
    "of a former member alone",
  );
});
