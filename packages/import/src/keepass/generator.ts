/** The program that a file names as the one that wrote it, when it is ours. */
export const generator = "Coffer";
