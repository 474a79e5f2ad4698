import { forgetKeys } from "./known-keys.ts";
import { rememberRemoved } from "./known-holders.ts";
import { serviceKey } from "./same-service.ts";

/**
 * Removes people or machines, and does what the profile has to do about it. That they are to hold nothing is remembered
 * before the service is asked: one that refuses, or whose answer is lost, and that goes on listing one of them as a holder of
 * a folder, is noticed when the folder is rotated. Once they are removed their keys count as not seen before.
 */
export async function forgetHolders(
  directory: string,
  url: string,
  holderIds: readonly string[],
  remove: () => Promise<void>,
): Promise<void> {
  const service = serviceKey(url);
  await rememberRemoved(directory, service, holderIds);
  await remove();
  await forgetKeys(directory, service, holderIds);
}
