import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import type { ApiAnswer, ApiRequest } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { acceptedIn, keyringRolledBack, readKeyring, writeKeyring } from "./keyring.ts";
import { changing } from "./held-trust.ts";
import { areAsCompared, requireContained, withPins } from "./merge-pins.ts";
import type { TrustRecord } from "./trust-storage.ts";

/** Synchronizes key pins between this device and the person's other devices. */
export interface DeviceKeyring {
  /**
   * Merges the other devices' pins, at most once. Throws CofferError `keyring_missing`,
   * `keyring_rolled_back`.
   */
  learn(): Promise<void>;
  /**
   * Merges the other devices' current pins; does nothing if no keyring was ever seen. Throws
   * CofferError `keyring_missing`, `keyring_rolled_back`, `history_forked`.
   */
  learnNow(): Promise<void>;
  /**
   * Merges the other devices' current pins as far as they fit, before a history is trusted again.
   */
  renew(): Promise<void>;
  /** Publishes this device's pins if they are newer than the keyring. */
  save(): Promise<void>;
}

export interface DeviceKeyringOptions {
  send(request: ApiRequest): Promise<ApiAnswer>;
  session(): Promise<PersonSession>;
  histories: () => Histories;
  /** Receives the error when the keyring could not be written. The main operation has succeeded. */
  onTrouble?: ((error: CofferError) => void) | undefined;
}

/** How often a device retries to read the keyring, and to write the next version of it. */
const rounds = 6;

export function deviceKeyring({ send, session, histories, onTrouble }: DeviceKeyringOptions): DeviceKeyring {
  let learning: Promise<void> | undefined;
  let saving: Promise<void> = Promise.resolve();

  const take = async (): Promise<TrustRecord> => {
    const own = histories();
    for (let round = 0; round < rounds; round += 1) {
      const before = await own.record();
      const shown = await readKeyring(send, await session());
      if (shown.version < before.keyring) throw keyringRolledBack(shown.version, before.keyring);
      if (shown.version === before.keyring) return before;
      await requireContained(own, before, shown);
      const after = await own.changeRecord((present) => {
        // Another call may have read on meanwhile, on another branch: an earlier pin is compared with that.
        if (present.keyring >= shown.version) return present;
        if (!areAsCompared(before.resources, present.resources, shown)) return present;
        const resources = withPins(present.resources, shown, present.listed);
        return { ...present, resources, keyring: shown.version, listed: shown.accepted };
      });
      if (after.keyring >= shown.version) return after;
    }
    throw changing("the keyring");
  };

  const learn = async (): Promise<void> => {
    try {
      await take();
    } catch (error) {
      const { resources } = await histories().record();
      // A device with pins of its own continues with those.
      if (!(error instanceof CofferError) || Object.keys(resources).length === 0) throw error;
      if (error.code !== "keyring_missing") throw error;
      onTrouble?.(error);
    }
  };

  const write = async (): Promise<void> => {
    let record = await histories().record();
    for (let round = 0; record.unsaved && round < rounds; round += 1) {
      const version = record.keyring + 1;
      const isStored = await writeKeyring(send, await session(), version, record).catch((error: unknown) => {
        if (!(error instanceof CofferError) || error.code !== "precondition_failed") throw error;
        return false;
      });
      if (!isStored) {
        record = await take();
        continue;
      }
      const published = record.resources;
      record = await histories().changeRecord((present) => ({
        ...present,
        keyring: version,
        listed: acceptedIn(published),
        unsaved: present.unsaved && JSON.stringify(present.resources) !== JSON.stringify(published),
      }));
    }
  };

  return {
    learn: () =>
      (learning ??= learn().catch((error: unknown) => {
        learning = undefined;
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
