/** A created or changed record. */
export interface RecordChangeItem {
  id: string;
  vault_id: string;
  type: string;
  encrypted_data: string;
  updated_at: string;
}

/** A deleted or invisible record. */
export interface DeletionItem {
  id: string;
  vault_id: string;
  deleted_at: string;
}

/**
 * The changes since a moment. With `has_more` they end at `server_time`, where the next request
 * continues.
 */
export interface SyncAnswer {
  type: "sync_response";
  changes: RecordChangeItem[];
  deleted: DeletionItem[];
  server_time: string;
  has_more: boolean;
  /** The replica is obsolete: this is a full response. */
  reset: boolean;
}

/** A notification of a change, without its content. */
export interface Push {
  type: "push";
  action: string;
  record_id: string | null;
  vault_id: string | null;
  updated_at: string | null;
  folder_id: string | null;
  /** For a folder: metadata, membership, key, secrets. */
  change: string | null;
  /** For a logout. */
  reason: string | null;
}

export interface SyncRefusal {
  type: "error";
  error: string;
  message: string;
  /** When the same request is accepted again; null for never. */
  retryAfterSeconds: number | null;
}

export type ServerMessage = SyncAnswer | Push | SyncRefusal;

type Fields = Record<string, unknown>;

/**
 * Parses a message of the service. Undefined for an unknown kind of message, `null` for a malformed
 * one.
 */
export function readMessage(data: unknown): ServerMessage | null | undefined {
  const message = objectOf(data);
  switch (message?.["type"]) {
    case "sync_response":
      return readAnswer(message);
    case "push":
      return readPush(message);
    case "error":
      return {
        type: "error",
        error: textOf(message["error"]) ?? "",
        message: textOf(message["message"]) ?? "",
        retryAfterSeconds: secondsOf(message["retry_after"]),
      };
    default:
      return typeof message?.["type"] === "string" ? undefined : null;
  }
}

function readAnswer({ changes, deleted, server_time: serverTime, has_more, reset }: Fields): SyncAnswer | null {
  if (!Array.isArray(changes) || !Array.isArray(deleted) || typeof serverTime !== "string") return null;
  if (!changes.every(isChange) || !deleted.every(isDeletion)) return null;
  return {
    type: "sync_response",
    changes,
    deleted,
    server_time: serverTime,
    has_more: has_more === true,
    reset: reset === true,
  };
}

function readPush(message: Fields): Push | null {
  const text = (name: string): string | null => textOf(message[name]) ?? null;
  const action = text("action");
  if (action === null) return null;
  return {
    type: "push",
    action,
    record_id: text("record_id"),
    vault_id: text("vault_id"),
    updated_at: text("updated_at"),
    folder_id: text("folder_id"),
    change: text("change"),
    reason: text("reason"),
  };
}

function isChange(value: unknown): value is RecordChangeItem {
  return hasTexts(value, ["id", "vault_id", "type", "encrypted_data", "updated_at"]);
}

function isDeletion(value: unknown): value is DeletionItem {
  return hasTexts(value, ["id", "vault_id", "deleted_at"]);
}

function hasTexts(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === "object" && value !== null && names.every((name) => typeof (value as Fields)[name] === "string")
  );
}

function objectOf(data: unknown): Fields | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function secondsOf(value: unknown): number | null {
  return typeof value === "number" && value > 0 ? value : null;
}
