import {
  type Actor,
  ada,
  begin,
  bob,
  boxed,
  type Chain,
  folder,
  grow,
  holder,
  invitation,
  joinContext,
  joinPair,
  machine,
  org,
  tokenOf,
} from "./history-chain.ts";
import { bytes, keyPair } from "./material.ts";
import type { JoinVector, VectorFile, VectorInvitation } from "./shapes.ts";

/** A newcomer's text, with the values that are derived from it. */
interface Given {
  text: string;
  token: string;
  tag: string;
  wrapKey: Buffer;
}

function given(seed: Buffer, prefix: "cft1_" | "cfi1_"): Given {
  return { text: prefix + seed.toString("base64url"), ...tokenOf(seed, prefix === "cft1_" ? "ott" : "invite") };
}

const machines = given(bytes("seed", 32), "cft1_");
const people = given(bytes("invite seed", 32), "cfi1_");

function about({ text, token, tag, wrapKey }: Given, { res, entries }: Chain): Omit<JoinVector, "name" | "error"> {
  const newcomer = holder(res === org ? bob : machine, "read", res);
  const parts = { text, token, tag, wrap_key: wrapKey.toString("hex"), res, entries, holder: newcomer };
  return { ...parts, join_private_key: null, join: null, state: null };
}

function joins(name: string, token: Given, invited: Chain, newcomer: Actor): JoinVector {
  const { res } = invited;
  const by = { by: `invite:${token.tag}`, pair: joinPair };
  const { entries, state } = grow(invited, res, by, { set: [holder(newcomer, "read", res)] });
  const key = joinPair.pkcs8.toString("base64");
  return { name, error: null, ...about(token, invited), join_private_key: key, join: entries.at(-1) ?? "", state };
}

function refused(name: string, token: Given, invited: Chain): JoinVector {
  return { name, error: "join_invalid", ...about(token, invited) };
}

/** Joins of machines and people, and invitations that cannot be used to sign a join. */
export function joinVectors(): VectorFile<JoinVector> {
  const first = begin(folder, ada);
  const members = begin(org, ada);
  const made = invitation(first, machines);
  const invites = (change: Partial<VectorInvitation> = {}): Chain =>
    grow(first, folder, ada, { invite: [{ ...made, ...change }] });
  const resealed = (plaintext: Buffer, context: string | null, key = machines.wrapKey): Chain =>
    invites({ sealed: boxed(key, bytes("join/nonce", 12), plaintext, context) });
  const context = joinContext(first, folder);
  const invited = invites();
  const renamed = grow(first, folder, ada, { name: "b" });
  const used = grow(
    invited,
    folder,
    { by: `invite:${machines.tag}`, pair: joinPair },
    { set: [holder({ ...machine, who: machine.who.replace(/.$/, "0") }, "read")] },
  );
  const seed = bytes("another seed", 32);
  const broken = [...first.entries, ...first.entries];
  return {
    about: "Joins: what a one-time token or an invitation opens in a history, and the entry that its holder signs",
    vectors: [
      joins("a machine joins a folder", machines, invited, machine),
      joins("a machine joins after further entries", machines, grow(invited, folder, ada, { name: "b" }), machine),
      joins(
        "a person joins an organization",
        people,
        grow(members, org, ada, { invite: [invitation(members, people)] }),
        bob,
      ),
      refused("a token of another seed", given(seed, "cft1_"), invited),
      refused("the seed of a machine's token as an invitation", given(bytes("seed", 32), "cfi1_"), invited),
      refused("a history without an invitation", machines, first),
      refused("an invitation that was used", machines, used),
      refused(
        "an invitation that was dropped",
        machines,
        grow(invited, folder, ada, { drop: [`invite:${machines.tag}`] }),
      ),
      refused(
        "a join key under the key of another token",
        machines,
        resealed(joinPair.pkcs8, context, tokenOf(seed, "ott").wrapKey),
      ),
      refused("a join key of another pair", machines, resealed(keyPair("another join").pkcs8, context)),
      refused(
        "a public key of another pair",
        machines,
        invites({ join_key: keyPair("another join").spki.toString("base64") }),
      ),
      refused("an invitation in another place", machines, grow(renamed, folder, ada, { invite: [made] })),
      refused("a join key for another number", machines, resealed(joinPair.pkcs8, context.replace("/1/", "/2/"))),
      refused("a join key for another organization", machines, resealed(joinPair.pkcs8, context.replace(folder, org))),
      refused("a join key in the bare layout", machines, resealed(joinPair.pkcs8, null)),
      refused("the public key in place of the private one", machines, resealed(joinPair.spki, context)),
      refused("the bare scalar in place of the private key", machines, resealed(joinPair.scalar, context)),
      {
        ...refused("a history that is not valid", machines, { ...invited, entries: broken }),
        error: "history_invalid",
      },
    ],
  };
}
