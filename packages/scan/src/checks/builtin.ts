/**
 * Modules of Node that only few texts need. Loading them takes longer than scanning a commit, so
 * each is loaded when it is first used.
 */
export const crypto = () => process.getBuiltinModule("node:crypto");
export const zlib = () => process.getBuiltinModule("node:zlib");
