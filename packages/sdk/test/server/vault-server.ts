import type { ServerResponse } from "node:http";
import { box, contexts, encodeBase64, newId, newKey, newKeyPair } from "@coffer/crypto";
import { type WebSocket, WebSocketServer } from "ws";
import type { PersonSession } from "../../src/index.ts";
import type { RecordView, VaultView } from "../../src/vaults/views.ts";
import { json, type Received, startServer } from "./server.ts";

type Scope = Parameters<typeof startServer>[0];

export interface SyncRequest {
  type: "sync_request";
  last_sync?: string;
  limit: number;
}

/** A service in memory, as far as vaults and their sync go, that does what a test says. */
export interface VaultServer {
  url: string;
  session: PersonSession;
  vaults: Map<string, VaultView>;
  records: Map<string, RecordView>;
  /** By id, with the time. */
  deleted: Map<string, { vault_id: string; at: string }>;
  received: Received[];
  asked: SyncRequest[];
  /** Protocols that each connection offered. */
  offered: string[];
  sockets: Set<WebSocket>;
  /** Answers a request in place of the server when it returns true. */
  instead: {
    http?: (request: Received, response: ServerResponse) => boolean;
    sync?: (asked: SyncRequest, socket: WebSocket) => boolean;
  };
  /** The next timestamp: each is a microsecond later. */
  tick(): string;
  /** Puts a record in place, as another device would, and returns its push. */
  put(record: Omit<RecordView, "created_at" | "updated_at">): object;
  drop(id: string): object;
  push(message: object): void;
  answer(asked: SyncRequest): object;
}

/** A person with real keys. */
export async function newSession(url: string): Promise<PersonSession> {
  const userKey = newKey();
  const { publicKey, privateKey } = await newKeyPair();
  return {
    url,
    user: { id: newId(), email: "a@example.com", name: null },
    session_id: "s",
    access_token: "access-1",
    access_expires_at: Date.now() / 1000 + 900,
    refresh_token: "refresh-1",
    refresh_expires_at: Date.now() / 1000 + 86_400,
    user_key: encodeBase64(userKey),
    public_key: publicKey,
    encrypted_private_key: await box(userKey, privateKey, contexts.privateKey()),
  };
}

export async function startVaultServer(t: Scope): Promise<VaultServer> {
  let count = 0;
  const vaults = new Map<string, VaultView>();
  const records = new Map<string, RecordView>();
  const deleted: VaultServer["deleted"] = new Map();
  const sockets = new Set<WebSocket>();
  const instead: VaultServer["instead"] = {};
  const tick = (): string => `2026-11-20T10:00:00.${String((count += 1)).padStart(6, "0")}Z`;

  const { url, received, server } = await startServer(t, (request, response) => {
    if (instead.http?.(request, response) === true) return;
    const { pathname } = new URL(request.path, "http://localhost");
    const [, , kind, vaultId = "", below, id = ""] = pathname.split("/");
    if (kind === "auth" && vaultId === "logout") {
      response.writeHead(204).end();
      return;
    }
    if (kind === "auth") {
      const expires = { expires_in: 900, refresh_expires_in: 86_400 };
      json(response, 200, { access_token: `access-${received.length}`, refresh_token: "refresh-2", ...expires });
      return;
    }
    const body = (request.body === "" ? {} : JSON.parse(request.body)) as Record<string, string>;
    const missing = (): void => json(response, 404, { error: "not_found", message: "not found" });
    if (vaultId === "" && request.method === "GET") {
      json(response, 200, { data: [...vaults.values()].map(counted) });
      return;
    }
    if (vaultId === "") {
      const { id: made = newId(), name = "", type = "", encrypted_key = "" } = body;
      if (vaults.has(made)) {
        json(response, 409, { error: "conflict", message: "taken" });
        return;
      }
      const shown = { permission: "manage", key_version: 1, record_count: 0, safe_for_travel: false } as const;
      const at = tick();
      vaults.set(made, { id: made, org_id: null, name, type, encrypted_key, ...shown, created_at: at, updated_at: at });
      json(response, 201, vaults.get(made));
      return;
    }
    const vault = vaults.get(vaultId);
    if (vault === undefined) {
      missing();
      return;
    }
    if (below === undefined) {
      json(response, 200, counted(vault));
      return;
    }
    if (below === "import") {
      importInto(response, vaultId, JSON.parse(request.body) as { records: RecordView[] });
      return;
    }
    const held = records.get(id);
    const inside = [...records.values()].filter((record) => record.vault_id === vaultId);
    if (id === "" && request.method === "GET") {
      json(response, 200, { data: inside, next_cursor: null });
      return;
    }
    if (id === "" && records.has(body["id"] ?? "")) {
      json(response, 409, { error: "conflict", message: "taken" });
      return;
    }
    if (id !== "" && held === undefined) {
      missing();
      return;
    }
    if (request.method === "GET") {
      json(response, 200, held);
      return;
    }
    if (request.method === "DELETE") {
      drop(id);
      response.writeHead(204).end();
      return;
    }
    const match = request.headers["if-match"];
    if (match !== undefined && match !== `"${held?.updated_at ?? ""}"`) {
      json(response, 412, { error: "precondition_failed", message: "changed" });
      return;
    }
    const { type = "", encrypted_data = "" } = body;
    const made = id === "" ? (body["id"] ?? newId()) : id;
    put({ id: made, vault_id: vaultId, type, encrypted_data });
    json(response, id === "" ? 201 : 200, records.get(made));
  });

  function counted(vault: VaultView): VaultView {
    const inside = [...records.values()].filter(({ vault_id }) => vault_id === vault.id);
    return { ...vault, record_count: inside.length };
  }

  function importInto(response: ServerResponse, vaultId: string, { records: given }: { records: RecordView[] }): void {
    const errors: { index: number; issue: string }[] = [];
    const made: { id: string; type: string }[] = [];
    given.forEach(({ id, type, encrypted_data }, index) => {
      if (records.has(id)) errors.push({ index, issue: "taken" });
      else if (!/^[a-z]/.test(type)) errors.push({ index, issue: "type" });
      else {
        put({ id, vault_id: vaultId, type, encrypted_data });
        made.push({ id, type });
      }
    });
    json(response, 201, { imported: made.length, failed: errors.length, records: made, errors });
  }

  function put(record: Omit<RecordView, "created_at" | "updated_at">): object {
    const at = tick();
    const created_at = records.get(record.id)?.created_at ?? at;
    const action = records.has(record.id) ? "record_updated" : "record_created";
    records.set(record.id, { ...record, created_at, updated_at: at });
    return { type: "push", action, record_id: record.id, vault_id: record.vault_id, updated_at: at };
  }

  function drop(id: string): object {
    const vault_id = records.get(id)?.vault_id ?? "";
    const at = tick();
    records.delete(id);
    deleted.set(id, { vault_id, at });
    return { type: "push", action: "record_deleted", record_id: id, vault_id, updated_at: at };
  }

  /** In pages by time: what is later than `last_sync`. */
  function answer({ last_sync: since = "", limit }: SyncRequest): object {
    const changes = [...records.values()]
      .filter(({ updated_at, vault_id }) => updated_at > since && vaults.has(vault_id))
      .sort((a, b) => (a.updated_at < b.updated_at ? -1 : 1))
      .map((record) => ({ ...record, action: "updated", server_timestamp: record.updated_at }));
    const gone = [...deleted]
      .filter(([, { at }]) => since !== "" && at > since)
      .map(([id, { vault_id, at }]) => ({ id, vault_id, deleted_at: at }));
    const has_more = changes.length > limit;
    const page = changes.slice(0, limit);
    const server_time = has_more ? page.at(-1)?.updated_at : tick();
    return { type: "sync_response", changes: page, deleted: gone, server_time, has_more };
  }

  const offered: string[] = [];
  const asked: SyncRequest[] = [];
  const sync = new WebSocketServer({ noServer: true, handleProtocols: () => "coffer.sync.v1" });
  server.on("upgrade", (request, socket, head) => {
    offered.push(request.headers["sec-websocket-protocol"] ?? "");
    sync.handleUpgrade(request, socket, head, (channel) => {
      sockets.add(channel);
      channel.on("close", () => sockets.delete(channel));
      channel.on("message", (data) => {
        const message = JSON.parse((data as Buffer).toString()) as SyncRequest;
        asked.push(message);
        if (instead.sync?.(message, channel) !== true) channel.send(JSON.stringify(answer(message)));
      });
    });
  });
  t.teardown(() => {
    for (const socket of sockets) socket.terminate();
    return Promise.resolve();
  });
  return {
    url,
    session: await newSession(url),
    vaults,
    records,
    deleted,
    received,
    asked,
    offered,
    sockets,
    instead,
    tick,
    put,
    drop,
    answer,
    push(message) {
      for (const socket of sockets) socket.send(JSON.stringify(message));
    },
  };
}
