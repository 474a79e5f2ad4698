import { CofferError } from "../errors.ts";
import type { PersonSession } from "../person-session.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import type { Histories } from "./histories.ts";
import { keyringRolledBack, readKeyring, writeKeyring } from "./keyring.ts";
import { requireContained, withPins } from "./merge-pins.ts";
import type { TrustRecord } from "./trust-storage.ts";

/** What this device and the person's others tell each other. */
export interface DeviceKeyring {
  /** Brings in what the others trust; asks once. Throws CofferError `keyring_missing`, `keyring_rolled_back`. */
  learn(): Promise<void>;
  /**
   * Brings in what the others trust now; nothing where no keyring was ever seen. Throws CofferError `keyring_missing`,
   * `keyring_rolled_back`, `history_forked`.
   */
  learnNow(): Promise<void>;
  /** Brings in what the others trust now, as far as it fits: what is trusted again after it is what they are told. */
  renew(): Promise<void>;
  /** Tells the others what this device trusts, when it trusts more than they were told. */
  save(): Promise<void>;
}

export interface DeviceKeyringOptions {
  send(request: ApiRequest): Promise<ApiAnswer>;
  session(): Promise<PersonSession>;
  histories: () => Histories;
  /** Hears why the others could not be told; what was done is done. */
  onTrouble?: ((error: CofferError) => void) | undefined;
}

/** How often a device tries to be the next that writes the keyring. */
const rounds = 6;

export function deviceKeyring({ send, session, histories, onTrouble }: DeviceKeyringOptions): DeviceKeyring {
  let asked: Promise<void> | undefined;
  let saving: Promise<void> = Promise.resolve();

  const take = async (): Promise<TrustRecord> => {
    const own = histories();
    const before = await own.record();
    const shown = await readKeyring(send, await session());
    if (shown.version < before.keyring) throw keyringRolledBack(shown.version, before.keyring);
    if (shown.version === before.keyring) return before;
    await requireContained(own, before, shown);
    return own.changeRecord((present) => ({
      ...present,
      resources: withPins(present.resources, shown),
      keyring: Math.max(shown.version, present.keyring),
    }));
  };

  const learn = async (): Promise<void> => {
    try {
      await take();
    } catch (error) {
      const { resources } = await histories().record();
      // A device that trusts something already goes on with that.
      if (!(error instanceof CofferError) || Object.keys(resources).length === 0) throw error;
      if (error.code !== "keyring_missing") throw error;
      onTrouble?.(error);
    }
  };

  const write = async (): Promise<void> => {
    let record = await histories().record();
    for (let round = 0; record.unsaved && round < rounds; round += 1) {
      const version = record.keyring + 1;
      try {
        await writeKeyring(send, await session(), version, record);
      } catch (error) {
        if (!(error instanceof CofferError) || error.code !== "precondition_failed") throw error;
        record = await take();
        continue;
      }
      const told = record.resources;
      record = await histories().changeRecord((present) => ({
        ...present,
        keyring: version,
        unsaved: present.unsaved && JSON.stringify(present.resources) !== JSON.stringify(told),
      }));
    }
  };

  return {
    learn: () =>
      (asked ??= learn().catch((error: unknown) => {
        asked = undefined;
        throw error;
      })),
    async learnNow() {
      const { keyring } = await histories().record();
      await take().catch((error: unknown) => {
        if (!(error instanceof CofferError) || error.code !== "keyring_missing" || keyring > 0) throw error;
        onTrouble?.(error);
      });
    },
    async renew() {
      await take().catch((error: unknown) => {
        if (!(error instanceof CofferError)) throw error;
        onTrouble?.(error);
      });
    },
    save() {
      saving = saving.then(write).catch((error: unknown) => {
        if (!(error instanceof CofferError)) throw error;
        onTrouble?.(error);
      });
      return saving;
    },
  };
}
