/**
 * The vault in files of ours for records without a folder, because 1Password has every item in a
 * vault.
 */
export const vaultOfNone = { name: "Coffer", desc: "coffer: in no folder" } as const;
