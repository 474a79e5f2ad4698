/** What is said to who cannot write because others go on changing who sees the vault. */
export const busy = "others keep changing who sees this vault; try again";
