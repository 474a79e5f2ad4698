import { type Cut, cutName, type Head, type HistoryState, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";
import type { PersonTrust } from "../trust/person-trust.ts";

/**
 * Corrects how far a former member's signatures count in one folder or vault, where the service
 * named a wrong entry at the removal. An owner or admin signs it; the folder or vault is not read.
 * @param entry the newest entry that its users have verified; by default this device's
 * @throws CofferError `invalid_request` for a current member, or without an entry; `not_found` for
 * a person who was never removed
 */
export async function restateCut(
  send: Send,
  trust: PersonTrust,
  userId: string,
  res: Resource,
  entry?: Head,
): Promise<Head> {
  const who = `user:${userId}` as const;
  const requireFormer = ({ holders, former }: HistoryState): void => {
    if (holders.some((holder) => holder.who === who))
      throw new CofferError("invalid_request", `${userId} is a member: a removal states how far the signatures count`);
    if (!former.some((one) => one.who === who))
      throw new CofferError("not_found", `the organization's history names no former member ${userId}`);
  };
  const organization = (await trust.organization()).state;
  requireFormer(organization);
  const { seq, hash } = entry ?? (await trust.histories.known(res))?.pin ?? unknownEntry(res);
  const cut: Cut = { [await cutName(res)]: [seq, hash] };
  await trust.sign(organization.res, ({ state }) => {
    // The drop of a person who has returned meanwhile would be a removal.
    requireFormer(state);
    return Promise.resolve({
      change: { drop: [who], cut },
      send: (text) => send({ method: "POST", path: "/api/org/history", body: { entry: text } }),
    });
  });
  return { seq, hash };
}

function unknownEntry(res: Resource): never {
  throw new CofferError(
    "invalid_request",
    `this device has verified nothing of ${res}: give the number and hash of the entry`,
  );
}
