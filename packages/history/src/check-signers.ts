import { encodeText, sha256Hex } from "@coffer/crypto";
import type { Cut, Resource } from "./claims.ts";
import { HistoryError } from "./history-error.ts";
import type { Head, HistoryState, Signer } from "./state.ts";
import { holderOf } from "./state.ts";

/** The name of a history in a `cut`: hex SHA-256 of `res`, so that it discloses no vault. */
export function cutName(res: Resource): Promise<string> {
  return sha256Hex(encodeText(res));
}

/**
 * Whether a signature of this person in a folder or vault counts now: the organization has the
 * person with that key, and a returned person was set again by another manager after the `cut`.
 * @param signer `since` is the value of the folder's or vault's `set_at`
 */
export async function countsNow(
  organization: HistoryState,
  res: Resource,
  { who, key, since }: Pick<Signer, "who" | "key" | "since">,
): Promise<boolean> {
  if (holderOf(organization, who)?.key !== key) return false;
  const cut = cutOf(organization, await cutName(res), { who, key });
  return cut === undefined || since > cut[0];
}

/**
 * Checks the signers of a folder's or vault's history against the organization's. Entries of a
 * removed person count up to the `cut`, which must be an entry of this history. Entries of a
 * returned person count again after another manager has set that person after the `cut`. Without a
 * cut for this history they count up to the client's pin.
 * @param organization the newest state of the organization's history
 * @param history the newest state of the folder's or vault's history
 * @param pin the pin before these entries were read; null without one
 * @param hashAt the hash of an earlier entry of this history
 * @throws HistoryError `signer_removed`, `history_rolled_back`, `history_forked`
 */
export async function checkSigners(
  organization: HistoryState,
  history: HistoryState,
  pin: Head | null,
  hashAt: (seq: number) => Promise<string | undefined>,
): Promise<void> {
  const { res } = history;
  if (organization.res !== `org:${history.org}`)
    throw new HistoryError("history_invalid", `the history of ${res} belongs to another organization`, { res });
  const name = await cutName(res);
  for (const signer of history.signers) {
    const isMember = holderOf(organization, signer.who)?.key === signer.key;
    const cut = cutOf(organization, name, signer);
    if (cut === undefined) {
      if (!isMember && (pin === null || signer.seq > pin.seq)) throw removed(res, signer);
      continue;
    }
    const [seq, hash] = cut;
    if (history.head.seq < seq)
      throw new HistoryError(
        "history_rolled_back",
        `the organization knows entry ${seq} of the history of ${res}, but the newest that was shown is ${history.head.seq}`,
        { res, seq, cutOf: signer.who },
      );
    const cameBack = isMember && signer.since > seq;
    if (signer.seq > seq && !cameBack) throw removed(res, signer);
    if ((await hashAt(seq)) !== hash)
      throw new HistoryError("history_forked", `entry ${seq} of ${res} is not the one that the organization knows`, {
        res,
        seq,
        cutOf: signer.who,
      });
  }
}

function cutOf(
  organization: HistoryState,
  name: string,
  { who, key }: Pick<Signer, "who" | "key">,
): Cut[string] | undefined {
  const former = organization.former.find((one) => one.who === who && one.key === key);
  return former !== undefined && Object.hasOwn(former.cut, name) ? former.cut[name] : undefined;
}

function removed(res: Resource, { who, seq }: Signer): HistoryError {
  return new HistoryError(
    "signer_removed",
    `entry ${seq} of the history of ${res} counts on ${who}, who is not in the organization or was removed from it before that entry`,
    { res, seq },
  );
}
