import { decodeBase64 } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";
import type { MachineConfiguration } from "../machines/machine-configuration.ts";
import { isGivenByManager, machineSelf } from "../trust/machine-trust.ts";
import type { TrustRecord } from "../trust/trust-storage.ts";
import type { FolderView } from "../views.ts";
import type { Histories } from "./histories.ts";
import { folderJoin, join, type JoinToken } from "./join-folder.ts";

/**
 * Joins the histories of the folders of a machine's one-time token, and stores each join before the
 * next. Skips folders that the machine has accepted already, and folders without a history. Does nothing
 * when the configuration has no token. After the machine's first folder, only invitations by
 * managers of its folders count.
 * @returns the errors of folders that could not be joined: a manager may have granted them
 * meanwhile
 * @throws CofferError of the service, and for an invalid history
 */
export async function joinFolders(
  views: readonly FolderView[],
  configuration: MachineConfiguration,
  histories: Histories,
  send: Send,
): Promise<Map<`folder:${string}`, CofferError>> {
  const { wrap_key: wrapKey, token_hash: tag } = configuration;
  const refused = new Map<`folder:${string}`, CofferError>();
  if (wrapKey === undefined || tag === undefined) return refused;
  // Who made the token may have been removed since, and can make invitations for it still: with a
  // first folder, managers decide.
  const trusts: JoinToken["trusts"] = async (maker) => {
    const record = await histories.record();
    return !hasFolder(record) || isGivenByManager(maker, record);
  };
  const token = { tag, wrapKey: decodeBase64(wrapKey), trusts };
  const self = machineSelf(configuration);
  for (const { id } of views.filter((view) => view.history_seq != null)) {
    const res = `folder:${id}` as const;
    const known = await histories.known(res);
    // A pin alone is no join: an earlier answer may have been from before the invitation.
    if (known?.accepted === true) continue;
    try {
      const sendJoin = folderJoin(histories.read, send, id);
      const trusted = await join(histories.read, res, self, token, undefined, sendJoin, known);
      if (trusted === undefined) continue;
      const unasked = hasFolder(await histories.record());
      await histories.keep(res, () => ({ ...trusted, unasked }));
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "join_invalid") throw error;
      refused.set(res, error);
    }
  }
  return refused;
}

function hasFolder({ resources }: TrustRecord): boolean {
  return Object.values(resources).some(({ accepted }) => accepted);
}
