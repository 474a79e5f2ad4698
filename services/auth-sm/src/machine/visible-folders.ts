import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { Machine } from "../callers/machine.ts";
import { listClientFolders } from "../store/client-folders.ts";

/**
 * The folders whose secrets a machine asks for: all that it was granted, or the one it names.
 * @throws ServiceError `access_denied` when it names one that it was not granted, wherever that is
 */
export async function visibleFolders(db: Queryable, caller: Machine, named: string | undefined): Promise<string[]> {
  const granted = (await listClientFolders(db, caller.clientId)).map(({ id }) => id);
  if (named === undefined) return granted;
  if (!granted.includes(named)) {
    throw new ServiceError("access_denied", "this client has no access to the folder");
  }
  return [named];
}
