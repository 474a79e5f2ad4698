import { join } from "node:path";
import type { KnownVaultKeys } from "@coffer/sdk";
import { changeKnown, readKnown } from "./known-file.ts";
import { serviceKey } from "./same-service.ts";

/**
 * Remembers in the profile's folder which key each vault of a service has, so that another one is noticed. What was
 * remembered first stays.
 */
export function knownVaultKeys(directory: string, url: string): KnownVaultKeys {
  const path = join(directory, "known-vault-keys.json");
  const service = serviceKey(url);
  return {
    load: async () => (await readKnown(path))[service] ?? {},
    async add(marks) {
      let now: Record<string, string> = {};
      await changeKnown(path, service, (known) => {
        now = { ...marks, ...known };
        return now;
      });
      return now;
    },
    // Whose marks they are cannot be told: those of somebody else who was logged in there before go too.
    async keepOnly(names) {
      await changeKnown(path, service, (known) =>
        Object.fromEntries(Object.entries(known).filter(([name]) => names.includes(name))),
      );
    },
  };
}
