import { decodeBase64, type MachineToken, machineTokenSeconds, signMachineToken } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { MachineConfiguration } from "./machine-configuration.ts";

const renewBeforeSeconds = 30;

/**
 * A machine's bearer tokens, signed with its private key for `audience`. A new one is made shortly
 * before the last one expires, or when the clock was set back. `now` in Unix milliseconds.
 */
export function machineTokens(
  configuration: MachineConfiguration,
  audience: string,
  now: () => number,
): () => Promise<string> {
  let current: Promise<MachineToken> | undefined;

  const sign = async (): Promise<MachineToken> => {
    try {
      const privateKey = decodeBase64(configuration.private_key);
      return await signMachineToken({ clientId: configuration.client_id, privateKey, audience }, new Date(now()));
    } catch (cause) {
      throw new CofferError("configuration", "the private key of the machine's configuration cannot be used", {
        cause,
      });
    }
  };

  return async () => {
    const held = await current?.catch(() => undefined);
    const left = held === undefined ? 0 : held.expiresAt - now() / 1000;
    if (held !== undefined && left > renewBeforeSeconds && left <= machineTokenSeconds) return held.token;
    current = sign();
    return (await current).token;
  };
}
