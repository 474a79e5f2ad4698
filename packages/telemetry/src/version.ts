import manifest from "../package.json" with { type: "json" };

/** The version of this release, equal in all packages and services. */
export const version: string = manifest.version;
