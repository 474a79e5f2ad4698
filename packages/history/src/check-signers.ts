import { encodeText, sha256Hex } from "@coffer/crypto";
import type { Resource } from "./claims.ts";
import { HistoryError } from "./history-error.ts";
import type { Head, HistoryState, Signer } from "./state.ts";
import { holderOf } from "./state.ts";

/** Under what name a `cut` speaks of a history: hex SHA-256 of `res`, so that it names no vault. */
export function cutName(res: Resource): Promise<string> {
  return sha256Hex(encodeText(res));
}

/**
 * Checks the signers of a folder's or vault's history against the organization's: a signer whom the organization does not
 * hold any more with that key counts up to the `cut` of the drop; where the drop names no cut for this history, up to the
 * client's pin.
 *
 * @param organization the newest state of the organization's history
 * @param history the newest state of the folder's or vault's
 * @param pin what this client trusted of this history before it read these entries; null when nothing
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
    if (holderOf(organization, signer.who)?.key === signer.key) continue;
    const former = organization.former.find(({ who, key }) => who === signer.who && key === signer.key);
    const cut = former !== undefined && Object.hasOwn(former.cut, name) ? former.cut[name] : undefined;
    if (cut === undefined) {
      if (pin === null || signer.seq > pin.seq) throw removed(res, signer);
      continue;
    }
    const [seq, hash] = cut;
    if (history.head.seq < seq)
      throw new HistoryError(
        "history_rolled_back",
        `the organization knows entry ${seq} of the history of ${res}, but the newest that was shown is ${history.head.seq}`,
        { res, seq },
      );
    if (signer.seq > seq) throw removed(res, signer);
    if ((await hashAt(seq)) !== hash)
      throw new HistoryError("history_forked", `entry ${seq} of ${res} is not the one that the organization knows`, {
        res,
        seq,
      });
  }
}

function removed(res: Resource, { who, seq }: Signer): HistoryError {
  return new HistoryError(
    "signer_removed",
    `entry ${seq} of the history of ${res} counts on ${who}, who is not in the organization any more`,
    { res, seq },
  );
}
