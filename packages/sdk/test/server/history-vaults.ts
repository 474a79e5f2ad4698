import type { Server } from "node:http";
import { type HistoryState, holderOf, type Resource } from "@coffer/history";
import { type WebSocket, WebSocketServer } from "ws";
import type { RecordView, VaultView } from "../../src/vaults/views.ts";
import { Refusal } from "./refusal.ts";

type Body = Record<string, unknown>;

interface HeldMember {
  user_id: string;
  permission: "read" | "write" | "manage";
  encrypted_key: string | null;
}

export interface HeldVault {
  id: string;
  org: string | null;
  name: string;
  type: string;
  key_version: number;
  safe_for_travel: boolean;
  members: HeldMember[];
  pins: Map<string, { version: number; sealed: string }>;
  staged: Map<string, Resealed[]>;
}

interface Resealed {
  id: string;
  updated_at: string;
  encrypted_data: string;
}

/** What the vaults of the server in memory need of the rest of it. */
export interface VaultContext {
  append(res: Resource, entry: unknown): Promise<HistoryState>;
  page(res: Resource, after: number): Body;
  seqOf(res: Resource): number | null;
  /** The organization that a request of the caller chooses. */
  orgOf(): { id: string };
  emailOf(userId: string): string;
}

/** Vaults with their records, rotations, pins and sync, as the real services have them. */
export interface VaultServerPart {
  vaults: Map<string, HeldVault>;
  records: Map<string, RecordView>;
  /** Sends a message to the connections of a person. */
  push(userId: string, message: object): void;
  /** Whether changes are pushed. */
  pushes: boolean;
  /** People whose travel mode is on. */
  travelling: Set<string>;
  /** Runs before an answer of sync is sent. */
  beforeAnswer: () => Promise<void>;
  answer(
    caller: string,
    request: { method: string; path: string; body: Body; ifMatch: string | undefined },
    context: VaultContext,
  ): Promise<{ status: number; body: unknown }>;
  listen(server: Server): void;
  close(): void;
}

export function vaultPart(): VaultServerPart {
  let count = 0;
  const vaults = new Map<string, HeldVault>();
  const records = new Map<string, RecordView>();
  const sockets = new Map<WebSocket, string>();
  const tick = (): string => `2026-11-20T10:00:00.${String((count += 1)).padStart(6, "0")}Z`;

  const part: VaultServerPart = {
    ...{ vaults, records, pushes: true, travelling: new Set<string>() },
    beforeAnswer: () => Promise.resolve(),
    push(userId, message) {
      for (const [socket, user] of sockets) if (user === userId) socket.send(JSON.stringify(message));
    },
    async answer(caller, { method, path, body, ifMatch }, context) {
      const { pathname, searchParams } = new URL(path, "http://x");
      const [, , , id = "", below = "", last = ""] = pathname.split("/");
      const ok = (found: unknown, status = 200) => ({ status, body: found });
      const seen = (vault: HeldVault, userId: string): HeldMember | undefined =>
        isHidden(vault, userId) ? undefined : vault.members.find(({ user_id }) => user_id === userId);
      const view = (vault: HeldVault): VaultView => {
        const { permission = "read", encrypted_key = null } = seen(vault, caller) ?? {};
        return {
          ...{ id: vault.id, org_id: vault.org, name: vault.name, type: vault.type, permission, encrypted_key },
          ...{ key_version: vault.key_version, safe_for_travel: vault.safe_for_travel },
          encrypted_key_alg: encrypted_key === null ? null : encrypted_key.includes(".") ? "jwe" : "box-user",
          record_count: inside(vault.id).length,
          history_seq: context.seqOf(`vault:${vault.id}`),
          sealed_pin: vault.pins.get(caller) ?? null,
          created_at: "2026-11-20T10:00:00.000000Z",
          updated_at: "2026-11-20T10:00:00.000000Z",
        };
      };
      if (id === "" && method === "GET")
        return ok({ data: [...vaults.values()].filter((vault) => seen(vault, caller) !== undefined).map(view) });
      if (id === "") {
        const made = String(body["id"]);
        const shared = body["type"] === "shared";
        if (vaults.has(made)) throw new Refusal(409, "conflict");
        if (body["entry"] !== undefined) await context.append(`vault:${made}`, body["entry"]);
        const vault: HeldVault = {
          ...{
            id: made,
            org: shared ? context.orgOf().id : null,
            name: String(body["name"]),
            type: String(body["type"]),
          },
          ...{ key_version: 1, safe_for_travel: false, pins: new Map(), staged: new Map() },
          members: [{ user_id: caller, permission: "manage", encrypted_key: body["encrypted_key"] as string }],
        };
        vaults.set(made, vault);
        return ok(view(vault), 201);
      }
      const vault = vaults.get(id);
      const me = vault === undefined ? undefined : seen(vault, caller);
      if (vault === undefined || me === undefined) throw new Refusal(404, "not_found");
      const res: Resource = `vault:${id}`;
      const changed = (action = "vault_updated", to = vault.members.map(({ user_id }) => user_id)): void => {
        const message = { type: "push", action, record_id: null, vault_id: id, updated_at: tick() };
        if (part.pushes) for (const user of to) part.push(user, message);
      };
      const requireKey = (): void => {
        const sent = body["key_version"];
        if (sent !== undefined && sent !== vault.key_version) throw new Refusal(409, "conflict");
      };
      switch (`${method} ${below}${last === "" ? "" : " :"}`.trim()) {
        case "GET":
          return ok(view(vault));
        case "PATCH":
          if (body["entry"] !== undefined) await context.append(res, body["entry"]);
          else if (vault.type === "shared" && ![undefined, vault.name].includes(body["name"] as string))
            throw new Refusal(400, "invalid_request");
          vault.name = (body["name"] as string | undefined) ?? vault.name;
          vault.safe_for_travel = (body["safe_for_travel"] as boolean | undefined) ?? vault.safe_for_travel;
          changed();
          return ok(view(vault));
        case "DELETE":
          vaults.delete(id);
          changed("vault_deleted");
          return { status: 204, body: undefined };
        case "GET history":
          return ok(context.page(res, Number(searchParams.get("after") ?? -1)));
        case "POST history":
          return ok({ history_seq: (await context.append(res, body["entry"])).head.seq }, 201);
        case "PUT pin":
          if (body["version"] !== (vault.pins.get(caller)?.version ?? 0) + 1)
            throw new Refusal(412, "precondition_failed");
          vault.pins.set(caller, body as { version: number; sealed: string });
          return ok(body);
        case "GET members":
          return ok({
            data: vault.members.map(({ user_id, permission, encrypted_key }) => ({
              ...{ user_id, permission, name: "as the server says", email: context.emailOf(user_id) },
              ...{ added_at: "2026-11-20T10:00:00.000000Z", has_key: encrypted_key !== null },
            })),
          });
        case "PUT members :": {
          requireKey();
          const before = seen(vault, last);
          if (body["entry"] !== undefined) await context.append(res, body["entry"]);
          vault.members = vault.members.filter(({ user_id }) => user_id !== last);
          const permission = body["permission"] as HeldMember["permission"];
          vault.members.push({ user_id: last, permission, encrypted_key: body["encrypted_key"] as string });
          changed(before === undefined ? "vault_created" : "vault_updated", [last]);
          return ok({ user_id: last, permission, key_version: vault.key_version });
        }
        case "DELETE members :":
          if (seen(vault, last) === undefined) throw new Refusal(404, "not_found");
          vault.members = vault.members.filter(({ user_id }) => user_id !== last);
          changed("vault_deleted", [last]);
          return { status: 204, body: undefined };
        case "PUT rotation :":
          vault.staged.set(last, [...(vault.staged.get(last) ?? []), ...(body["records"] as Resealed[])]);
          return ok({ rotation_id: last, staged: vault.staged.get(last)?.length });
        case "POST rotate": {
          requireKey();
          const sealed = (body["records"] ?? vault.staged.get(String(body["rotation_id"]))) as Resealed[];
          const present = inside(id);
          const fits = sealed.every((one) => records.get(one.id)?.updated_at === one.updated_at);
          if (!fits || sealed.length !== present.length) throw new Refusal(409, "conflict");
          const state = await context.append(res, body["entry"]);
          const { users } = body["encrypted_keys"] as { users: { user_id: string; encrypted_key: string | null }[] };
          for (const member of vault.members)
            member.encrypted_key = users.find(({ user_id }) => user_id === member.user_id)?.encrypted_key ?? null;
          for (const { user_id, encrypted_key } of users)
            if (encrypted_key !== null && holderOf(state, `user:${user_id}`) === undefined)
              throw new Refusal(400, "invalid_request");
          vault.key_version += 1;
          for (const { id: recordId, encrypted_data } of sealed)
            records.set(recordId, { ...(records.get(recordId) as RecordView), encrypted_data, updated_at: tick() });
          changed();
          return ok(view(vault));
        }
        case "GET records":
          return ok({ data: inside(id), next_cursor: null });
        case "POST records":
        case "PUT records :": {
          requireKey();
          const record = method === "POST" ? String(body["id"]) : last;
          const held = records.get(record);
          if (method === "POST" && held !== undefined) throw new Refusal(409, "conflict");
          if (ifMatch !== undefined && ifMatch !== `"${held?.updated_at ?? ""}"`)
            throw new Refusal(412, "precondition_failed");
          const at = tick();
          const { type, encrypted_data } = body as { type: string; encrypted_data: string };
          const made = { id: record, vault_id: id, type, encrypted_data, created_at: at, updated_at: at };
          records.set(record, made);
          const action = held === undefined ? "record_created" : "record_updated";
          const push = { type: "push", action, record_id: record, vault_id: id, updated_at: at };
          if (part.pushes) for (const { user_id } of vault.members) part.push(user_id, push);
          return ok(made, method === "POST" ? 201 : 200);
        }
        case "GET records :": {
          const held = records.get(last);
          if (held?.vault_id !== id) throw new Refusal(404, "not_found");
          return ok(held);
        }
        case "POST import": {
          requireKey();
          const given = body["records"] as { id: string; type: string; encrypted_data: string }[];
          const errors: { index: number; issue: string }[] = [];
          given.forEach((one, index) => {
            const at = tick();
            if (records.has(one.id)) errors.push({ index, issue: "id: taken" });
            else records.set(one.id, { ...one, vault_id: id, created_at: at, updated_at: at });
          });
          return ok({ imported: given.length - errors.length, failed: errors.length, records: [], errors }, 201);
        }
        default:
          throw new Refusal(404, "not_found", `${method} ${path} is not served here`);
      }
    },
    listen(server) {
      const channel = new WebSocketServer({ noServer: true, handleProtocols: () => "coffer.sync.v1" });
      server.on("upgrade", (request, socket, head) => {
        const offered = request.headers["sec-websocket-protocol"] ?? "";
        const user = offered.split("bearer.")[1] ?? "";
        channel.handleUpgrade(request, socket, head, (opened) => {
          sockets.set(opened, user);
          opened.on("close", () => sockets.delete(opened));
          opened.on("message", (data) => {
            const asked = JSON.parse((data as Buffer).toString()) as { last_sync?: string };
            const answer = JSON.stringify(syncAnswer(user, asked.last_sync ?? ""));
            void part.beforeAnswer().then(() => opened.send(answer));
          });
        });
      });
    },
    close() {
      for (const socket of sockets.keys()) socket.terminate();
    },
  };

  const isHidden = ({ safe_for_travel: safe }: HeldVault, userId: string): boolean =>
    part.travelling.has(userId) && !safe;
  const inside = (vaultId: string): RecordView[] =>
    [...records.values()].filter(({ vault_id }) => vault_id === vaultId);
  const isThere = (vault: HeldVault | undefined, user: string): boolean =>
    vault !== undefined && !isHidden(vault, user) && vault.members.some(({ user_id }) => user_id === user);
  /** In one page, with what is sealed at this moment. */
  const syncAnswer = (user: string, since: string): object => ({
    ...{ type: "sync_response", deleted: [], has_more: false },
    changes: [...records.values()]
      .filter(({ vault_id }) => isThere(vaults.get(vault_id), user))
      .filter(({ updated_at }) => updated_at > since)
      .map((record) => ({ ...record, action: "updated", server_timestamp: record.updated_at })),
    server_time: tick(),
  });
  return part;
}
