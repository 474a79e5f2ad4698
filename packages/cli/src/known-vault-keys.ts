import { join } from "node:path";
import { stableIds } from "@coffer/crypto";
import type { KnownVaultKeys } from "@coffer/sdk";
import { changeKnown, readKnown } from "./known-file.ts";
import { serviceKey } from "./same-service.ts";

/**
 * Remembers in the profile's folder which key each vault of a service has for a person, so that another one is noticed.
 * What was remembered first stays. Whoever else is logged in there, before or after, has marks of their own; the file says
 * of how many people there are some, and of none who it is.
 * @param userKey the person's, 32 bytes
 */
export function knownVaultKeys(directory: string, url: string, userKey: Uint8Array): KnownVaultKeys {
  const path = join(directory, "known-vault-keys.json");
  const whose = async (): Promise<string> => `${serviceKey(url)} ${(await stableIds(userKey, ["person"])).join()}`;
  return {
    load: async () => (await readKnown(path))[await whose()] ?? {},
    async add(marks) {
      let now: Record<string, string> = {};
      await changeKnown(path, await whose(), (known) => {
        now = { ...marks, ...known };
        return now;
      });
      return now;
    },
    async keepOnly(names) {
      await changeKnown(path, await whose(), (known) =>
        Object.fromEntries(Object.entries(known).filter(([name]) => names.includes(name))),
      );
    },
  };
}
