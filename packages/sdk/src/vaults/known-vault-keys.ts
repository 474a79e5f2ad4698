import { stableIds } from "@coffer/crypto";

/** Keeps the marks of vault keys between runs. A mark opens nothing, and says neither the key nor the vault. */
export interface KnownVaultKeys {
  /** All that were kept. Throws when they cannot be read: that none is known is another thing. */
  load(): Promise<Record<string, string>>;
  /**
   * Keeps some more, but what was kept under a name before stays: another process may have been first. Returns what is
   * kept under these names now. Throws when it cannot be kept.
   */
  add(marks: Record<string, string>): Promise<Record<string, string>>;
  /** Forgets all but those under these names. Where there is none, hidden vaults leave their marks. Throws when it cannot. */
  keepOnly?(names: readonly string[]): Promise<void>;
}

export interface VaultKeyMarks {
  /**
   * Whether this is the key that the vault had before; of a vault that was not seen before it is from now on. A vault's key
   * never changes: another one is of the service's making. Rejects when it cannot be known or kept. `userKey` is that of
   * the person who asks.
   */
  isKnown(userKey: Uint8Array, vaultId: string, key: Uint8Array): Promise<boolean>;
  /**
   * All that are known, to be kept. They outlast their vaults, else one that goes and comes back could have any key: but
   * for those that are hidden by travel mode.
   */
  all(): Record<string, string>;
  /** Forgets, and has forgotten, the marks of all vaults but these. Rejects when they cannot be forgotten where they are kept. */
  keepOnly(userKey: Uint8Array, vaultIds: readonly string[]): Promise<void>;
  /** Knows these too. */
  take(marks: Record<string, string>): void;
}

/** The marks of a person's vault keys, in memory, and by `kept` between runs. */
export function vaultKeyMarks(kept: KnownVaultKeys | undefined): VaultKeyMarks {
  /** Those of keys that were used, here or by the device whose storage said so. */
  const known = new Map<string, string>();
  /** What `kept` holds, and what it is yet to hold. */
  const held = new Map<string, string>();
  const unkept = new Map<string, string>();
  let loading: Promise<void> | undefined;
  let keeping: Promise<void> = Promise.resolve();

  const hold = (marks: Record<string, string>): void => {
    for (const [name, mark] of Object.entries(marks)) held.set(name, mark);
  };

  const load = async (): Promise<void> => {
    try {
      if (kept !== undefined) hold(await kept.load());
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };

  /** One after another; what comes meanwhile is kept together, and what could not be kept is tried again with it. */
  const keep = (to: KnownVaultKeys): Promise<void> => {
    keeping = keeping
      .catch(() => undefined)
      .then(async () => {
        const names = [...unkept.keys()];
        if (names.length === 0) return;
        hold(await to.add(Object.fromEntries(unkept)));
        if (names.some((name) => !held.has(name)))
          throw new Error("the place for the marks does not say what it holds");
        for (const name of names) unkept.delete(name);
      });
    return keeping;
  };

  return {
    take(marks) {
      for (const [name, mark] of Object.entries(marks)) if (!known.has(name)) known.set(name, mark);
    },
    all: () => Object.fromEntries([...held, ...known]),
    async keepOnly(userKey, vaultIds) {
      const names = await namesOf(userKey, vaultIds);
      await keeping.catch(() => undefined);
      for (const marks of [known, held, unkept])
        for (const name of [...marks.keys()]) if (!names.includes(name)) marks.delete(name);
      await kept?.keepOnly?.(names);
    },
    async isKnown(userKey, vaultId, key) {
      const [name = ""] = await namesOf(userKey, [vaultId]);
      const [mark = ""] = await stableIds(key, [`key of the vault ${vaultId}`]);
      await (loading ??= load());
      const before = known.get(name);
      if (before !== undefined && before !== mark) return false;
      if (kept !== undefined && !held.has(name)) {
        if (!unkept.has(name)) unkept.set(name, mark);
        await keep(kept);
      }
      // What is kept counts, whoever kept it: no two processes believe different keys.
      if ((held.get(name) ?? mark) !== mark) return false;
      known.set(name, mark);
      return true;
    },
  };
}

/** Under what the marks of these vaults stand. */
function namesOf(userKey: Uint8Array, vaultIds: readonly string[]): Promise<string[]> {
  return stableIds(
    userKey,
    vaultIds.map((id) => `vault ${id}`),
  );
}
