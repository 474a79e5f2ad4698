import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { understoodHistory } from "../histories/history-failure.ts";
import { labelOf } from "./confirmed-key.ts";
import { namesakes, takeName } from "./known-as.ts";
import type { PersonTrust } from "./person-trust.ts";

/** A folder or vault that another member shared with the caller. */
export interface Offer {
  kind: "folder" | "vault";
  id: string;
  /** From its history. */
  name: string;
  /**
   * The e-mail, from the organization's history, of the member who shared it; the id of a former
   * member.
   */
  from: string;
  /**
   * The organization that the history names: its managers decide which e-mail `from` is. Null when
   * it is unknown here.
   */
  organization: { id: string; name: string } | null;
  /**
   * The ids of others that the caller uses under this name. The service could hide them, so that the
   * name then means this one.
   */
  same_name: string[];
}

/** Decides whether the person expects an offered folder or vault. */
export type AcceptOffer = (offer: Offer) => Promise<boolean>;

/** Throws CofferError as reading its history does. */
export async function offerOf(trust: PersonTrust, res: Resource): Promise<Offer> {
  const { state, given } = await understoodHistory(trust.histories.newest(res));
  const organization = (await trust.histories.known(`org:${state.org ?? ""}`))?.state;
  const [kind, id] = res.split(":") as ["folder" | "vault", string];
  const by = given?.by;
  if (by === undefined)
    throw new CofferError("holder_unconfirmed", `the history of ${state.name} does not name you: ask a manager of it`);
  const from = organization == null ? by : labelOf(organization, by);
  const of = organization == null ? null : { id: organization.res.slice("org:".length), name: organization.name };
  const others = await namesakes(trust.histories, res);
  return {
    kind,
    id,
    name: state.name,
    from,
    organization: of,
    same_name: others.map((one) => one.slice(kind.length + 1)),
  };
}

/**
 * Accepts a folder or vault on all devices of the person, under the name that the person was shown: another member can
 * rename it between the offer and the answer.
 * @param offer default: the name that this device last read
 */
export async function acceptOffer(trust: PersonTrust, res: Resource, offer?: Pick<Offer, "name">): Promise<void> {
  const shown = offer?.name ?? (await trust.histories.known(res))?.state?.name;
  const { name } = (await trust.histories.newest(res)).state;
  await trust.histories.keep(res, (before) => {
    if (before === undefined)
      throw new CofferError("conflict", `another process has just forgotten ${shown ?? res}: accept it again`);
    return { ...before, accepted: true, removed: undefined, known_as: shown === name ? undefined : shown };
  });
  await takeName(trust.histories, res);
  await trust.share();
}
