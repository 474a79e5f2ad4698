import pLimit from "p-limit";
import type { Bus } from "@coffer/bus";
import { folderHolders, type RpcSubject, vaultViewers } from "@coffer/events";
import { coalesce } from "./coalesce.ts";

/** The people who may see a vault or folder, requested each time, since it changes. */
export interface Audience {
  ofVault(vaultId: string): Promise<readonly string[]>;
  ofFolder(folderId: string): Promise<readonly string[]>;
}

interface UsersPage {
  user_ids: string[];
  after: string | null;
}

const maxRequests = 64;

/** Requests the audience from vaults and auth-sm. */
export function createAudience(bus: Bus): Audience {
  const slots = pLimit(maxRequests);
  const readAll = async <Input>(
    rpc: RpcSubject<Input, UsersPage>,
    inputOf: (after: string | null) => Input,
  ): Promise<readonly string[]> => {
    const users: string[] = [];
    for (let after: string | null = null; ;) {
      const page: UsersPage = await bus.request(rpc, inputOf(after));
      for (const user of page.user_ids) users.push(user);
      after = page.after;
      if (after === null) return users;
    }
  };
  return {
    ofVault: coalesce((vault_id) => slots(() => readAll(vaultViewers, (after) => ({ vault_id, after })))),
    ofFolder: coalesce((folder_id) => slots(() => readAll(folderHolders, (after) => ({ folder_id, after })))),
  };
}
