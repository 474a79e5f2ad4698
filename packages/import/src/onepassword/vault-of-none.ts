/** The vault that a file of ours has for records that are in no folder, since 1Password has every item in a vault. */
export const vaultOfNone = { name: "Coffer", desc: "coffer: in no folder" } as const;
