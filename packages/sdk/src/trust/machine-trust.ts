import { decodeBase64 } from "@coffer/crypto";
import { type Histories, histories } from "../histories/histories.ts";
import { machineEntries } from "../histories/read-entries.ts";
import type { Self } from "../histories/self.ts";
import type { Send } from "../http/transport.ts";
import type { MachineConfiguration } from "../machines/machine-configuration.ts";
import { isManagerOf, type Trusted, type TrustRecord, type TrustStorage } from "./trust-storage.ts";

/** A machine in the form of histories. */
export function machineSelf({ client_id, public_key, private_key }: MachineConfiguration): Self {
  return {
    who: `client:${client_id}`,
    publicKey: public_key,
    privateKey: () => Promise.resolve(decodeBase64(private_key)),
  };
}

/**
 * The histories of a machine's folders. A machine reads no organization's history. It accepts a
 * later folder when the signer who named the machine manages, with the same key, a folder that the
 * machine has.
 */
export function machineHistories(configuration: MachineConfiguration, storage: TrustStorage, send: Send): Histories {
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

/**
 * Whether a person manages, with the same key, a folder that the machine has. Whoever was removed
 * from one of its folders does not count for any other: the service can show that one as it was
 * before the removal.
 */
export function isGivenByManager(given: Trusted["given"], { resources }: TrustRecord): boolean {
  if (given === undefined) return false;
  const folders = Object.values(resources).filter(({ accepted }) => accepted);
  const isFormer = folders.some(({ former_managers: former = [] }) =>
    former.some(({ who, key }) => who === given.by && key === given.key),
  );
  return !isFormer && folders.some((folder) => isManagerOf(given, folder));
}
