import { box, contexts, newKeyPair } from "@coffer/crypto";
import { makeInvitation, openInvitation } from "@coffer/history";
import type { Resource } from "@coffer/history";
import t from "tap";
import { found, newActor, newUuid, signAs } from "./people.ts";

const res: Resource = `folder:${newUuid()}`;
const wrapKey = new Uint8Array(32).fill(3);
const request = { tag: "cd".repeat(32), wrapKey, kind: "client", perm: "read" } as const;

void t.test("an invitation is made for one place", async (t) => {
  const alice = await newActor();
  const { state } = await found(res, alice);
  const made = await makeInvitation(state, res, request);
  const between = await signAs(state, res, alice, { name: "Other" });
  const moved = await signAs(between.state, res, alice, { invite: [made] });
  await t.rejects(
    openInvitation(res, moved.state.invitations[0], wrapKey),
    { code: "join_invalid" },
    "in another entry",
  );
  const invited = await signAs(state, res, alice, { invite: [made] });
  await t.resolves(openInvitation(res, invited.state.invitations[0], wrapKey));
});

void t.test("the two keys of an invitation are a pair", async (t) => {
  const alice = await newActor();
  const { state } = await found(res, alice);
  const made = await makeInvitation(state, res, request);
  const { publicKey } = await newKeyPair();
  const swapped = await signAs(state, res, alice, { invite: [{ ...made, join_key: publicKey }] });
  await t.rejects(
    openInvitation(res, swapped.state.invitations[0], wrapKey),
    { code: "join_invalid" },
    "another public key",
  );
  const nonsense = await box(wrapKey, new Uint8Array(8), contexts.join(res, 1, state.head.hash));
  const broken = await signAs(state, res, alice, { invite: [{ ...made, sealed: nonsense }] });
  await t.rejects(openInvitation(res, broken.state.invitations[0], wrapKey), { code: "join_invalid" }, "no key at all");
});

void t.test("an invitation that there is not is refused", async (t) => {
  await t.rejects(openInvitation(res, undefined, wrapKey), { code: "join_invalid" });
});
