import { kindOf, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { type Trusted, trustedIn, type TrustRecord, type TrustStorage, withTrusted } from "./trust-storage.ts";

/** What a device trusts, as this process last read or stored it. Other processes share the storage. */
export interface HeldTrust {
  record(): Promise<TrustRecord>;
  /** As other processes have stored it by now. Concurrent calls share one read. */
  stored(): Promise<TrustRecord>;
  /** Notes that these pins of forgotten vaults have none of this vault, or that the next change puts it back. */
  searched(res: Resource, hidden: readonly string[]): void;
  /** Throws CofferError `conflict` when the change adds a vault that may have been forgotten meanwhile. */
  change(apply: (before: TrustRecord) => TrustRecord): Promise<TrustRecord>;
  /**
   * Stores the trust in a history. Returns false when `make` returns nothing, or another process has
   * changed what it depends on.
   */
  tryToStore(
    res: Resource,
    make: (there: Trusted | undefined, record: TrustRecord) => Trusted | undefined,
  ): Promise<boolean>;
}

export function heldTrust(storage: TrustStorage): HeldTrust {
  /** The pins of forgotten vaults among which a vault's was last looked for. */
  const looked = new Map<string, string>();
  let held: TrustRecord | undefined;
  let loading: Promise<TrustRecord> | undefined;

  const load = async (): Promise<TrustRecord> => {
    const before = held;
    const loaded = await storage.load();
    // Unless this process has stored something meanwhile.
    if (held === before) held = loaded;
    return held ?? loaded;
  };
  const stored = (): Promise<TrustRecord> => (loading ??= load().finally(() => (loading = undefined)));
  const record = async (): Promise<TrustRecord> => held ?? stored();

  const isSearched = (res: string, hidden: readonly string[]): boolean =>
    hidden.length === 0 || looked.get(res) === hidden.join();

  /** Changes nothing, and returns the vault, when the change adds one that may have been forgotten meanwhile. */
  const tryToChange = async (apply: (before: TrustRecord) => TrustRecord): Promise<string | undefined> => {
    let unsearched: string | undefined;
    held = await storage.change((before) => {
      const after = apply(before);
      const added = Object.keys(after.resources).filter((res) => !Object.hasOwn(before.resources, res));
      unsearched = added.find((res) => res.startsWith("vault:") && !isSearched(res, before.hidden ?? []));
      return unsearched === undefined ? after : before;
    });
    return unsearched;
  };

  return {
    record,
    stored,
    searched: (res, hidden) => void looked.set(res, hidden.join()),
    async change(apply) {
      const unsearched = await tryToChange(apply);
      if (unsearched !== undefined) throw changing(unsearched);
      return record();
    },
    async tryToStore(res, make) {
      const outcome = { isStored: false };
      const unsearched = await tryToChange((present) => {
        const kept = make(trustedIn(present, res), present);
        outcome.isStored = kept !== undefined;
        if (kept === undefined) return present;
        // The keyring shares all but vaults with the person's other devices.
        const unsaved = present.unsaved || kindOf(res) !== "vault";
        return { ...withTrusted(present, res, kept), unsaved };
      });
      return outcome.isStored && unsearched === undefined;
    },
  };
}

export function changing(res: string): CofferError {
  return new CofferError("conflict", `other processes keep changing what this device trusts of ${res}: try again`);
}
