import manifest from "../package.json" with { type: "json" };

/** The version of this release: all packages and services of a release carry the same one. */
export const version: string = manifest.version;
