import { decodeBase64 } from "@coffer/crypto";
import { holderOf } from "@coffer/history";
import type { MachineConfiguration } from "../machine-configuration.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import { histories } from "./histories.ts";
import type { Histories } from "./histories.ts";
import { machineEntries } from "./read-entries.ts";
import type { Self } from "./self.ts";
import type { Trusted, TrustStorage } from "./trust-storage.ts";

/** A machine as histories name it. */
export function machineSelf({ client_id, public_key, private_key }: MachineConfiguration): Self {
  return {
    who: `client:${client_id}`,
    publicKey: public_key,
    privateKey: () => Promise.resolve(decodeBase64(private_key)),
  };
}

/**
 * The histories of a machine's folders. A machine reads no organization's history. A folder that it was given later is accepted
 * when the signer who made the machine a holder manages, with the same key, a folder that the machine has.
 */
export function machineHistories(
  configuration: MachineConfiguration,
  storage: TrustStorage,
  send: (request: ApiRequest) => Promise<ApiAnswer>,
): Histories {
  const { who } = machineSelf(configuration);
  const own = histories({
    storage,
    read: machineEntries(send),
    self: () => Promise.resolve(who),
    accepts: async ({ given }) => isGivenByManager(given, await own.record()),
    organizations: false,
  });
  return own;
}

function isGivenByManager(given: Trusted["given"], { resources }: Awaited<ReturnType<Histories["record"]>>): boolean {
  if (given === undefined) return false;
  return Object.values(resources).some(({ state, accepted }) => {
    const manager = accepted && state !== null ? holderOf(state, given.by) : undefined;
    return manager?.perm === "manage" && manager.key === given.key;
  });
}
