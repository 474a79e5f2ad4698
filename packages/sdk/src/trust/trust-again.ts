import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import { type ConfirmKey, requireConfirmed } from "../people/public-key.ts";
import { labelOf } from "./confirmed-key.ts";
import { goesBack } from "./goes-back.ts";
import { takeName } from "./known-as.ts";

/**
 * Trusts a history as the service shows it now, whatever this device trusted before: verifies it
 * from entry 0, after the newest signer's words were compared. For a device without pins, and after
 * a restore of the service from a backup. Also accepts a folder or vault. Throws CofferError
 * `access_denied` when the words are not confirmed, `no_history`, and what reading a history
 * throws.
 */
export async function trustAgain(histories: Histories, res: Resource, confirm: ConfirmKey): Promise<void> {
  await histories.restart(res, async ({ state, signer }) => {
    if (signer === undefined) throw new CofferError("bad_answer", `the service shows no signer of ${res}`);
    const organization = res.startsWith("org:") ? state : (await histories.known(`org:${state.org ?? ""}`))?.state;
    const name = organization == null ? signer.by : labelOf(organization, signer.by);
    const id = signer.by.slice("user:".length);
    const goes_back = await goesBack(histories, state);
    await requireConfirmed({ kind: "user", id, name, public_key: signer.key, goes_back }, confirm);
  });
  await takeName(histories, res);
}
