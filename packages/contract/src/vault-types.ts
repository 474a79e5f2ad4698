/** The types of a vault. A personal vault has one member for ever. */
export const vaultTypes = ["personal", "shared"] as const;

export type VaultType = (typeof vaultTypes)[number];
