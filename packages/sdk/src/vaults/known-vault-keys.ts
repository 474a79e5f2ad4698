import { decodeBase64, stableIds } from "@coffer/crypto";
import type { PersonSession } from "../person-session.ts";

/** Keeps the marks of vault keys between runs. A mark opens nothing, and says neither the key nor the vault. */
export interface KnownVaultKeys {
  /** All that were kept. Throws when they cannot be read: that none is known is another thing. */
  load(): Promise<Record<string, string>>;
  /** Keeps some more. */
  add(marks: Record<string, string>): Promise<void>;
}

export interface VaultKeyMarks {
  /**
   * Whether this is the key that the vault had before; of a vault that was not seen before it is from now on. A vault's key
   * never changes: another one is of the service's making. Rejects when it cannot be kept.
   */
  isKnown(vaultId: string, key: Uint8Array): Promise<boolean>;
  /** All that are known, to be kept. They outlast their vaults, else one that goes and comes back could have any key. */
  all(): Record<string, string>;
  /** Knows these too. */
  take(marks: Record<string, string>): void;
}

/** The marks of a person's vault keys, in memory, and by `kept` between runs. */
export function vaultKeyMarks(session: () => Promise<PersonSession>, kept: KnownVaultKeys | undefined): VaultKeyMarks {
  const known = new Map<string, string>();
  let loading: Promise<void> | undefined;
  let keeping: Promise<void> = Promise.resolve();
  let unkept: Record<string, string> = {};

  const take = (marks: Record<string, string>): void => {
    for (const [name, mark] of Object.entries(marks)) if (!known.has(name)) known.set(name, mark);
  };

  const load = async (): Promise<void> => {
    try {
      if (kept !== undefined) take(await kept.load());
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };

  /** One after another; what comes meanwhile is kept together. */
  const keep = (): Promise<void> => {
    keeping = keeping
      .catch(() => undefined)
      .then(async () => {
        if (kept === undefined || Object.keys(unkept).length === 0) return;
        const marks = unkept;
        unkept = {};
        try {
          await kept.add(marks);
        } catch (error) {
          unkept = { ...marks, ...unkept };
          throw error;
        }
      });
    return keeping;
  };

  return {
    take,
    all: () => Object.fromEntries(known),
    async isKnown(vaultId, key) {
      const userKey = decodeBase64((await session()).user_key);
      const [name = ""] = await stableIds(userKey, [`vault ${vaultId}`]);
      const [mark = ""] = await stableIds(key, [`key of the vault ${vaultId}`]);
      await (loading ??= load());
      const before = known.get(name);
      if (before !== undefined && before !== mark) return false;
      if (before === undefined) {
        known.set(name, mark);
        unkept[name] = mark;
      }
      // Also what could not be kept the last time: a key that is used is one that the next run knows.
      await keep();
      return true;
    },
  };
}
