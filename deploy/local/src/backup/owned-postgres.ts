import { existsSync } from "node:fs";
import { join } from "node:path";
import { startPostgres, type Store } from "@coffer/stores";
import { aboutInstallation } from "../data/installation.ts";
import { openPlace } from "../data/stores-place.ts";
import type { Settings } from "../settings.ts";
import { StartupError } from "../startup-error.ts";

export const databaseName = "coffer";

/** Refuses an installation whose Postgres is not started by `npm start`. Throws StartupError. */
export function requireOwnPostgres(settings: Settings): void {
  if (settings.COFFER_POSTGRES_URL === undefined) return;
  throw givenPostgres("COFFER_POSTGRES_URL is set");
}

export function givenPostgres(why: string): StartupError {
  return new StartupError(`${why}: that Postgres is backed up and restored with its own tools, such as pg_dump`);
}

/**
 * Starts the Postgres of an installation alone. The caller has locked the data directory. Throws
 * StartupError.
 */
export async function startOwnPostgres(dataDirectory: string): Promise<Store> {
  const stores = aboutInstallation(dataDirectory)?.stores ?? null;
  const folder = join(stores ?? dataDirectory, "postgres");
  if (!existsSync(join(folder, "data"))) throw new StartupError(`${dataDirectory} holds no database of Coffer`);
  openPlace(dataDirectory, stores);
  return startPostgres({ directory: folder });
}

/** The superuser's address of Coffer's database on that server. */
export function databaseAddress({ url }: Store): string {
  const address = new URL(url);
  address.pathname = `/${databaseName}`;
  return address.href;
}
