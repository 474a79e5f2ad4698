import { derive } from "./derive.ts";

/**
 * The key of a pin that a device keeps of a hidden vault. Without the vault's id even the user key
 * does not open the pin.
 */
export function hiddenPinKey(userKey: Uint8Array, vaultId: string): Promise<Uint8Array<ArrayBuffer>> {
  return derive(userKey, `coffer/v1/hidden-pin/${vaultId}`);
}
