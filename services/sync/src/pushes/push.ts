import {
  type EventSubject,
  type folderChanged,
  type recordsChanged,
  type sessionRevoked,
  type vaultChanged,
} from "@coffer/events";
import { textFrame } from "./text-frame.ts";

type PayloadOf<Subject> = Subject extends EventSubject<infer Payload> ? Payload : never;
export type RecordEvent = PayloadOf<typeof recordsChanged>;
export type VaultEvent = PayloadOf<typeof vaultChanged>;
export type FolderEvent = PayloadOf<typeof folderChanged>;
export type SessionEvent = PayloadOf<typeof sessionRevoked>;

/** A push message, encoded once for all its recipients. */
export interface Push {
  /** Of two queued pushes with one key only the newer is sent. */
  readonly key: string;
  readonly updatedAt: string;
  /** The WebSocket frame. */
  readonly frame: Buffer;
  /** Whether a later `sync_response` contains the change. */
  readonly inAnswers: boolean;
  /** Null if the push is not about a vault. */
  readonly vaultId: string | null;
  /** Whether the vault became invisible to the recipients. */
  readonly endsVault: boolean;
}

const ofNoVault = { vaultId: null, endsVault: false } as const;

/** Includes the vault, so that the key does not depend on unique record ids. */
export const recordKey = (vaultId: string, recordId: string): string => `record ${vaultId} ${recordId}`;

export function recordPush(vaultId: string, { action, record_id, updated_at }: RecordEvent["changes"][number]): Push {
  const frame = frameOf({ action, record_id, vault_id: vaultId, updated_at });
  const key = recordKey(vaultId, record_id);
  return { key, updatedAt: updated_at, frame, inAnswers: true, vaultId, endsVault: false };
}

export function vaultPush({ action, vault_id, updated_at }: Omit<VaultEvent, "user_ids">): Push {
  const frame = frameOf({ action, record_id: null, vault_id, updated_at });
  const about = { vaultId: vault_id, endsVault: action === "vault_deleted" };
  return { key: `${action} ${vault_id}`, updatedAt: updated_at, frame, inAnswers: false, ...about };
}

export function folderPush({ folder_id, change, updated_at }: Omit<FolderEvent, "user_ids">): Push {
  const common = { action: "folder_updated", record_id: null, vault_id: null, updated_at } as const;
  const frame = frameOf({ ...common, folder_id, change });
  return { key: `folder ${change} ${folder_id}`, updatedAt: updated_at, frame, inAnswers: false, ...ofNoVault };
}

export function logoutPush({ session_id, reason, at }: Omit<SessionEvent, "user_id">): Push {
  const common = { action: "logout", record_id: null, vault_id: null, updated_at: null } as const;
  const frame = frameOf({ ...common, session_id, reason });
  return { key: "logout", updatedAt: at, frame, inAnswers: false, ...ofNoVault };
}

interface Common {
  action: RecordEvent["changes"][number]["action"] | VaultEvent["action"] | "folder_updated" | "logout";
  record_id: string | null;
  vault_id: string | null;
  updated_at: string | null;
}

function frameOf(fields: Common & Record<string, string | null>): Buffer {
  return textFrame({ type: "push", ...fields });
}
