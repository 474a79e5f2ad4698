import type { Bus } from "@coffer/bus";
import type { RpcSubject } from "@coffer/events";
import { folderHolders, vaultViewers } from "@coffer/events";
import { createTurns } from "../answers/turns.ts";
import { createFreshly } from "./freshly.ts";

/** Who may see something now: asked each time anew, because it may have been somebody else a moment ago. */
export interface Audience {
  ofVault(vaultId: string): Promise<readonly string[]>;
  ofFolder(folderId: string): Promise<readonly string[]>;
}

interface UsersPage {
  user_ids: string[];
  after: string | null;
}

const mostQuestions = 64;

/** Asks vaults and auth-sm over the bus. */
export function createAudience(bus: Bus): Audience {
  const turns = createTurns(mostQuestions);
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
    ofVault: createFreshly((vault_id) => turns(() => readAll(vaultViewers, (after) => ({ vault_id, after })))),
    ofFolder: createFreshly((folder_id) => turns(() => readAll(folderHolders, (after) => ({ folder_id, after })))),
  };
}
