import { forgetKeys } from "./known-keys.ts";
import { rememberRemoved } from "./known-holders.ts";
import { serviceKey } from "./same-service.ts";

/**
 * What the profile does about people and machines that were removed: their keys count as not seen before, and a service
 * that goes on listing one of them as a holder of a folder is noticed when the folder is rotated.
 */
export async function forgetHolders(directory: string, url: string, holderIds: readonly string[]): Promise<void> {
  if (holderIds.length === 0) return;
  const service = serviceKey(url);
  await rememberRemoved(directory, service, holderIds);
  await forgetKeys(directory, service, holderIds);
}
