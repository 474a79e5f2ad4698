import type { EventSubject } from "@coffer/events";
import type { folderChanged, recordsChanged, sessionRevoked, vaultChanged } from "@coffer/events";
import { textFrame } from "./text-frame.ts";

type PayloadOf<Subject> = Subject extends EventSubject<infer Payload> ? Payload : never;
export type RecordNews = PayloadOf<typeof recordsChanged>;
export type VaultNews = PayloadOf<typeof vaultChanged>;
export type FolderNews = PayloadOf<typeof folderChanged>;
export type SessionNews = PayloadOf<typeof sessionRevoked>;

/** A message to devices that nobody waits for, made once for all who get it. */
export interface Push {
  /** Of two that wait with the same key only the newer is sent. */
  readonly key: string;
  readonly updatedAt: string;
  /** The whole message, as it goes over the wire. */
  readonly frame: Buffer;
  /** Whether a `sync_response` that is asked for later holds what this tells. */
  readonly inAnswers: boolean;
  /** The vault that it tells of; null when it tells of none. */
  readonly vaultId: string | null;
  /** Whether it tells that the vault is out of sight. */
  readonly endsVault: boolean;
}

const ofNoVault = { vaultId: null, endsVault: false } as const;

/** What names a record: by its vault too, so that nothing here depends on how ids are given. */
export const recordKey = (vaultId: string, recordId: string): string => `record ${vaultId} ${recordId}`;

/** A record was made, changed or removed. */
export function recordPush(vaultId: string, { action, record_id, updated_at }: RecordNews["changes"][number]): Push {
  const frame = frameOf({ action, record_id, vault_id: vaultId, updated_at });
  const key = recordKey(vaultId, record_id);
  return { key, updatedAt: updated_at, frame, inAnswers: true, vaultId, endsVault: false };
}

/** A vault changed, or came into or went out of sight. */
export function vaultPush({ action, vault_id, updated_at }: Omit<VaultNews, "user_ids">): Push {
  const frame = frameOf({ action, record_id: null, vault_id, updated_at });
  const about = { vaultId: vault_id, endsVault: action === "vault_deleted" };
  return { key: `${action} ${vault_id}`, updatedAt: updated_at, frame, inAnswers: false, ...about };
}

/** A folder, its members, its key or its secrets changed. */
export function folderPush({ folder_id, change, updated_at }: Omit<FolderNews, "user_ids">): Push {
  const common = { action: "folder_updated", record_id: null, vault_id: null, updated_at } as const;
  const frame = frameOf({ ...common, folder_id, change });
  return { key: `folder ${change} ${folder_id}`, updatedAt: updated_at, frame, inAnswers: false, ...ofNoVault };
}

/** The session of a device was ended by somebody. */
export function logoutPush({ session_id, reason, at }: Omit<SessionNews, "user_id">): Push {
  const common = { action: "logout", record_id: null, vault_id: null, updated_at: null } as const;
  const frame = frameOf({ ...common, session_id, reason });
  return { key: "logout", updatedAt: at, frame, inAnswers: false, ...ofNoVault };
}

interface Common {
  action: RecordNews["changes"][number]["action"] | VaultNews["action"] | "folder_updated" | "logout";
  record_id: string | null;
  vault_id: string | null;
  updated_at: string | null;
}

function frameOf(fields: Common & Record<string, string | null>): Buffer {
  return textFrame({ type: "push", ...fields });
}
