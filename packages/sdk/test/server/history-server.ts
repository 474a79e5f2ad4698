import { box, contexts, encodeBase64, newId, newKey, newKeyPair } from "@coffer/crypto";
import { extend, type HistoryState, type Resource } from "@coffer/history";
import type { PersonSession } from "../../src/index.ts";
import type { FolderView, HolderView, SecretView } from "../../src/views.ts";
import { vaultPart, type VaultServerPart } from "./history-vaults.ts";
import { Refusal } from "./refusal.ts";
import { json, type Received, startServer } from "./server.ts";

type Body = Record<string, unknown>;

/** A person with an account. */
export interface Person {
  session: PersonSession;
  /** Of another device of the person: the same keys. */
  privateKey: Uint8Array;
}

/** A grant as the server holds it. */
interface Grant {
  kind: "user" | "client";
  id: string;
  permission: "read" | "write" | "manage";
  encrypted_key: string | null;
  encrypted_key_alg: string | null;
}

interface HeldFolder {
  id: string;
  org: string;
  name: string;
  key_version: number;
  grants: Grant[];
  secrets: SecretView[];
}

interface Organization {
  id: string;
  name: string;
  members: { user_id: string; email: string; role: string; status: string }[];
  invites: { id: string; email: string; role: string; hash: string }[];
}

/**
 * An honest service in memory: it stores histories as the real ones do, and changes of people,
 * folders, vaults and machines.
 */
export interface HistoryServer extends Omit<VaultServerPart, "listen" | "close"> {
  url: string;
  received: Received[];
  histories: Map<Resource, { entries: string[]; state: HistoryState }>;
  folders: Map<string, HeldFolder>;
  organizations: Map<string, Organization>;
  keyrings: Map<string, { version: number; sealed: string }>;
  /**
   * What a lie puts in the place of an honest answer: another body, or a Refusal. A promise delays
   * the answer.
   */
  lie: (request: Received, answer: { status: number; body: unknown }) => unknown;
  /** Whether a request is answered as if it had been done, and is not done. */
  loses: (request: Received) => boolean;
  person(email: string): Promise<Person>;
}

export async function startHistoryServer(t: { teardown(work: () => Promise<void>): void }): Promise<HistoryServer> {
  const people = new Map<string, { id: string; email: string; publicKey: string }>();
  const tokens = new Map<string, { id: string; status: string; applicationId: string; folders: Body[] }>();
  const machines = new Map<string, { publicKey: string; token: string }>();
  const staged = new Map<string, Body[]>();
  const applicationId = newId();
  const part = vaultPart();
  const server: HistoryServer = Object.assign(part, {
    ...{
      url: "",
      received: [],
      histories: new Map(),
      folders: new Map(),
      organizations: new Map(),
      keyrings: new Map(),
    },
    lie: (_request: Received, { body }: { body: unknown }): unknown => body,
    loses: (): boolean => false,
    async person(email: string): Promise<Person> {
      const [id, userKey, { publicKey, privateKey }] = [newId(), newKey(), await newKeyPair()];
      people.set(id, { id, email, publicKey });
      const session: PersonSession = {
        url: server.url,
        user: { id, email, name: email },
        session_id: newId(),
        access_token: id,
        access_expires_at: Math.floor(Date.now() / 1000) + 3600,
        refresh_token: "r",
        refresh_expires_at: Math.floor(Date.now() / 1000) + 3600,
        user_key: encodeBase64(userKey),
        public_key: publicKey,
        encrypted_private_key: await box(userKey, privateKey, contexts.privateKey()),
      };
      return { session, privateKey };
    },
  });

  /** Takes an entry as the real service does: when it follows the newest and fits. */
  const append = async (res: Resource, entry: unknown): Promise<HistoryState> => {
    const held = server.histories.get(res);
    if (typeof entry !== "string") throw new Refusal(400, "invalid_request", `an entry is needed for ${res}`);
    const { prev } = JSON.parse(Buffer.from(entry.split(".")[1] ?? "", "base64url").toString()) as Body;
    if (prev !== (held?.state.head.hash ?? null)) throw new Refusal(409, "conflict");
    const state = await extend(held?.state ?? null, res, entry).catch((error: unknown) => {
      throw new Refusal(400, "invalid_request", (error as Error).message);
    });
    server.histories.set(res, { entries: [...(held?.entries ?? []), entry], state });
    return state;
  };
  const seqOf = (res: Resource): number | null => server.histories.get(res)?.state.head.seq ?? null;
  const page = (res: Resource, after: number): Body => ({
    data: (server.histories.get(res)?.entries ?? []).slice(after + 1),
    history_seq: seqOf(res),
  });
  const folderView = (folder: HeldFolder, who: string): Body => {
    const grant = folder.grants.find(({ kind, id }) => `${kind}:${id}` === who);
    const { permission = null, encrypted_key = null, encrypted_key_alg = null } = grant ?? {};
    const { id, name, key_version } = folder;
    const at = "2026-11-20T10:00:00.000000Z";
    const history_seq = seqOf(`folder:${id}`);
    return {
      id,
      name,
      permission,
      key_version,
      encrypted_key,
      encrypted_key_alg,
      history_seq,
      created_at: at,
      updated_at: at,
    };
  };
  const algorithmOf = (key: string | null): string | null =>
    key === null ? null : key.includes(".") ? "jwe" : "box-user";
  const grantTo = (folder: HeldFolder, kind: Grant["kind"], id: string, body: Body): void => {
    folder.grants = folder.grants.filter((one) => one.id !== id);
    const key = (body["encrypted_key"] ?? null) as string | null;
    const permission = body["permission"] as Grant["permission"];
    folder.grants.push({ kind, id, permission, encrypted_key: key, encrypted_key_alg: algorithmOf(key) });
  };
  const machineView = (client_id: string, public_key: string): Body => {
    const folders = [...server.folders.values()].flatMap(({ id, grants }) =>
      grants.filter((grant) => grant.id === client_id).map(({ permission }) => ({ id, permission })),
    );
    return { client_id, name: "web", public_key, folders };
  };
  const keyOfHolder = ({ kind, id }: Grant): string =>
    (kind === "user" ? people.get(id)?.publicKey : machines.get(id)?.publicKey) ?? "";

  const answer = async (request: Received): Promise<{ status: number; body: unknown }> => {
    const { pathname, searchParams } = new URL(request.path, "http://x");
    const body = (request.body === "" ? {} : JSON.parse(request.body)) as Body;
    const bearer = (request.headers.authorization ?? "").slice("Bearer ".length);
    const caller = bearer.includes(".")
      ? String((JSON.parse(Buffer.from(bearer.split(".")[1] ?? "", "base64url").toString()) as Body)["sub"])
      : bearer;
    const ok = (found: unknown, status = 200) => ({ status, body: found });
    const orgOf = (): Organization => {
      const wanted = request.headers["x-coffer-org"];
      const mine = [...server.organizations.values()].filter(({ members }) =>
        members.some(({ user_id }) => user_id === caller),
      );
      const found = wanted === undefined ? mine[0] : mine.find(({ id }) => id === wanted);
      if (found === undefined) throw new Refusal(wanted === undefined ? 404 : 403, "not_found");
      return found;
    };
    const after = Number(searchParams.get("after") ?? -1);
    const parts = pathname.split("/").slice(2);
    const [, , third = "", fourth = "", fifth = ""] = parts;
    const route = `${request.method} ${pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ":").replace(/(secrets)\/[\w-]{22}$/, "$1/uid")}`;
    const folderOf = (id: string): HeldFolder => {
      const folder = server.folders.get(id);
      if (folder === undefined) throw new Refusal(404, "not_found");
      return folder;
    };
    switch (route) {
      case "GET /.well-known/jwks.json":
        return ok({ keys: [] });
      case "GET /api/account": {
        const mine = [...server.organizations.values()].filter(({ members }) =>
          members.some(({ user_id }) => user_id === caller),
        );
        return ok({ user: people.get(caller), organizations: mine.map(({ id, name }) => ({ id, name })) });
      }
      case "GET /api/users/:/public_key":
        return ok({ public_key: people.get(parts[1] ?? "")?.publicKey });
      case "GET /api/account/keyring": {
        const keyring = server.keyrings.get(caller);
        if (keyring === undefined) throw new Refusal(404, "not_found");
        return ok(keyring);
      }
      case "PUT /api/account/keyring":
        if (body["version"] !== (server.keyrings.get(caller)?.version ?? 0) + 1)
          throw new Refusal(412, "precondition_failed");
        server.keyrings.set(caller, body as { version: number; sealed: string });
        return ok(body);
      case "PUT /api/account/travel-mode":
        if (body["enabled"] === true) server.travelling.add(caller);
        else server.travelling.delete(caller);
        return ok({ enabled: server.travelling.has(caller), updated_at: "2026-11-20T10:00:00.000000Z" });
      case "GET /api/account/travel-mode":
        return ok({ enabled: server.travelling.has(caller), updated_at: "2026-11-20T10:00:00.000000Z" });
      case "POST /api/orgs": {
        const id = String(body["id"]);
        await append(`org:${id}`, body["entry"]);
        const email = people.get(caller)?.email ?? "";
        const members = [{ user_id: caller, email, role: "owner", status: "active" }];
        server.organizations.set(id, { id, name: String(body["name"]), members, invites: [] });
        return ok({ id, name: body["name"], history_seq: 0 }, 201);
      }
      case "GET /api/org": {
        const { id, name } = orgOf();
        return ok({ id, name, history_seq: seqOf(`org:${id}`) });
      }
      case "GET /api/org/history":
        return ok(page(`org:${orgOf().id}`, after));
      case "POST /api/org/history":
        return ok({ history_seq: (await append(`org:${orgOf().id}`, body["entry"])).head.seq }, 201);
      case "GET /api/org/members":
        return ok({ data: orgOf().members });
      case "DELETE /api/org/members/:": {
        const organization = orgOf();
        organization.members = organization.members.filter(({ user_id }) => user_id !== parts[2]);
        for (const folder of server.folders.values())
          if (folder.org === organization.id) folder.grants = folder.grants.filter(({ id }) => id !== parts[2]);
        for (const vault of server.vaults.values())
          if (vault.org === organization.id)
            vault.members = vault.members.filter(({ user_id }) => user_id !== parts[2]);
        return { status: 204, body: undefined };
      }
      case "GET /api/org/members/:/heads": {
        const { cutName } = await import("@coffer/history");
        const heads: Record<string, [number, string]> = {};
        for (const [res, { state }] of server.histories)
          if (
            !res.startsWith("org:") &&
            [...state.holders, ...state.signers].some(({ who }) => who === `user:${third}`)
          )
            heads[await cutName(res)] = [state.head.seq, state.head.hash];
        return ok({ data: heads });
      }
      case "GET /api/org/invites":
        return ok({ data: orgOf().invites.map(({ hash, ...invite }) => ({ ...invite, tag: hash })) });
      case "POST /api/org/invites": {
        const organization = orgOf();
        await append(`org:${organization.id}`, body["entry"]);
        const invite = {
          id: newId(),
          email: String(body["email"]),
          role: String(body["role"]),
          hash: String(body["token_hash"]),
        };
        organization.invites.push(invite);
        return ok({ ...invite, expires_at: "2026-12-20T10:00:00.000000Z" }, 201);
      }
      case "DELETE /api/org/invites/:": {
        const organization = orgOf();
        organization.invites = organization.invites.filter(({ id }) => id !== third);
        return { status: 204, body: undefined };
      }
      case "POST /api/org/invites/history":
      case "POST /api/org/invites/accept": {
        const hash = Buffer.from(
          await crypto.subtle.digest("SHA-256", new TextEncoder().encode(String(body["token"]))),
        ).toString("hex");
        const organization = [...server.organizations.values()].find(({ invites }) =>
          invites.some((one) => one.hash === hash),
        );
        if (organization === undefined) throw new Refusal(404, "not_found");
        const res: Resource = `org:${organization.id}`;
        if (route.endsWith("history")) return ok(page(res, Number(body["after"] ?? -1)));
        await append(res, body["entry"]);
        const role = organization.invites.find((one) => one.hash === hash)?.role ?? "member";
        organization.invites = organization.invites.filter((one) => one.hash !== hash);
        organization.members.push({ user_id: caller, email: people.get(caller)?.email ?? "", role, status: "active" });
        return ok({ id: organization.id, name: organization.name });
      }
      case "GET /api/org/applications":
        return ok({ data: [{ id: applicationId, name: "api" }] });
      case "GET /api/org/applications/:/tokens":
        return ok({ data: [...tokens].map(([tag, { id, status }]) => ({ id, tag, status })) });
      case "GET /api/org/applications/:/clients":
        return ok({ data: [...machines].map(([id, { publicKey }]) => machineView(id, publicKey)) });
      case "POST /api/org/applications/:/tokens": {
        const folders = body["folders"] as Body[];
        for (const one of folders) await append(`folder:${String(one["folder_id"])}`, one["entry"]);
        const id = newId();
        tokens.set(String(body["token_hash"]), { id, status: "unused", applicationId, folders });
        return ok({ id, name: body["name"], status: "unused", expires_at: "2026-12-20T10:00:00.000000Z" }, 201);
      }
      case "DELETE /api/org/applications/:/tokens/:": {
        for (const token of tokens.values()) if (token.id === parts[4]) token.status = "revoked";
        return { status: 204, body: undefined };
      }
      case "PUT /api/org/applications/:/clients/:/folders/:":
      case "PUT /api/org/folders/:/members/:": {
        const isClient = route.includes("clients");
        const folder = folderOf(isClient ? (parts[6] ?? "") : third);
        const id = isClient ? (parts[4] ?? "") : fifth;
        if (body["key_version"] !== folder.key_version) throw new Refusal(409, "conflict");
        if (body["entry"] !== undefined) await append(`folder:${folder.id}`, body["entry"]);
        grantTo(folder, isClient ? "client" : "user", id, body);
        return ok({ user_id: id, client_id: id, folder_id: folder.id, permission: body["permission"] });
      }
      case "PATCH /api/org/members/:":
        if (body["entry"] !== undefined) await append(`org:${orgOf().id}`, body["entry"]);
        return ok({ user_id: third, ...body });
      case "POST /api/auth/logout":
        return { status: 204, body: undefined };
      case "POST /api/org/applications":
        return ok({ id: newId(), ...body }, 201);
      case "DELETE /api/org/applications/:":
        for (const folder of server.folders.values())
          folder.grants = folder.grants.filter(({ kind }) => kind !== "client");
        return { status: 204, body: undefined };
      case "DELETE /api/org/applications/:/clients/:":
        for (const folder of server.folders.values())
          folder.grants = folder.grants.filter(({ id }) => id !== (parts[4] ?? ""));
        return { status: 204, body: undefined };
      case "DELETE /api/org/folders/:": {
        const folder = folderOf(third);
        if (folder.secrets.length > 0 && searchParams.get("force") !== "true") throw new Refusal(409, "conflict");
        server.folders.delete(folder.id);
        return { status: 204, body: undefined };
      }
      case "DELETE /api/org/folders/:/members/:": {
        const folder = folderOf(third);
        folder.grants = folder.grants.filter(({ id }) => id !== fifth);
        return { status: 204, body: undefined };
      }
      case "GET /api/org/folders": {
        const { id: org, members } = orgOf();
        const seesAll = members.some(({ user_id, role }) => user_id === caller && ["owner", "admin"].includes(role));
        const mine = [...server.folders.values()].filter(
          (one) => one.org === org && (seesAll || one.grants.some(({ id }) => id === caller)),
        );
        return ok({ data: mine.map((one) => folderView(one, `user:${caller}`)) });
      }
      case "POST /api/org/folders": {
        const id = String(body["id"]);
        await append(`folder:${id}`, body["entry"]);
        const folder: HeldFolder = {
          id,
          org: orgOf().id,
          name: String(body["name"]),
          key_version: 1,
          grants: [],
          secrets: [],
        };
        grantTo(folder, "user", caller, { ...body, permission: "manage" });
        server.folders.set(id, folder);
        return ok(folderView(folder, `user:${caller}`), 201);
      }
      case "PATCH /api/org/folders/:": {
        await append(`folder:${third}`, body["entry"]);
        folderOf(third).name = String(body["name"]);
        return ok(folderView(folderOf(third), `user:${caller}`));
      }
      case "GET /api/org/folders/:/history":
      case "GET /api/sm/v1/folders/:/history":
        return ok(page(`folder:${route.includes("/sm/") ? fourth : third}`, after));
      case "POST /api/org/folders/:/history":
        return ok({ history_seq: (await append(`folder:${third}`, body["entry"])).head.seq }, 201);
      case "POST /api/sm/v1/folders/:/history":
        return ok({ history_seq: (await append(`folder:${fourth}`, body["entry"])).head.seq }, 201);
      case "GET /api/org/folders/:/members": {
        const view = (grant: Grant): HolderView => ({
          ...{ kind: grant.kind, id: grant.id, name: "as the server says", permission: grant.permission },
          public_key: keyOfHolder(grant),
          has_key: grant.encrypted_key !== null,
        });
        return ok({ data: folderOf(third).grants.map(view) });
      }
      case "GET /api/org/folders/:/secrets":
        return ok({ data: folderOf(third).secrets.map((one) => ({ ...one, history_seq: seqOf(`folder:${third}`) })) });
      case "POST /api/org/folders/:/secrets":
      case "POST /api/sm/v1/secrets": {
        const folder = folderOf(String(body["folder_id"]));
        if (body["key_version"] !== folder.key_version) throw new Refusal(409, "conflict");
        const at = "2026-11-20T10:00:00.000000Z";
        const view = {
          ...body,
          data_encrypted: body["encrypted_payload"],
          field_names: Object.keys(body["fields"] as object),
          version: 1,
          created_at: at,
          updated_at: at,
        };
        folder.secrets.push(view as unknown as SecretView);
        return ok(view, 201);
      }
      case "GET /api/org/folders/:/secrets/uid":
      case "DELETE /api/org/folders/:/secrets/uid":
      case "PUT /api/org/folders/:/secrets/uid": {
        const secret = folderOf(third).secrets.find(({ uid }) => uid === parts[4]);
        if (secret === undefined) throw new Refusal(404, "secret_not_found");
        return ok(secret);
      }
      case "PUT /api/org/folders/:/rotation/:": {
        const sent = [...(staged.get(parts[4] ?? "") ?? []), ...(body["secrets"] as Body[])];
        staged.set(parts[4] ?? "", sent);
        return ok({ rotation_id: parts[4], staged: sent.length });
      }
      case "POST /api/org/folders/:/rotate": {
        const folder = folderOf(third);
        if (body["key_version"] !== folder.key_version) throw new Refusal(409, "conflict");
        await append(`folder:${third}`, body["entry"]);
        const { users, clients } = body["encrypted_keys"] as { users: Body[]; clients: Body[] };
        for (const grant of folder.grants) {
          const sealed = [...users, ...clients].find(
            (one) => one["user_id"] === grant.id || one["client_id"] === grant.id,
          );
          grant.encrypted_key = (sealed?.["encrypted_key"] ?? null) as string | null;
          grant.encrypted_key_alg = algorithmOf(grant.encrypted_key);
        }
        folder.key_version += 1;
        for (const one of (body["secrets"] ?? staged.get(String(body["rotation_id"])) ?? []) as Body[]) {
          const secret = folder.secrets.find(({ uid }) => uid === one["uid"]);
          const data_encrypted = one["encrypted_payload"] ?? secret?.data_encrypted;
          if (secret !== undefined) Object.assign(secret, one, { data_encrypted, key_version: folder.key_version });
        }
        return ok(folderView(folder, `user:${caller}`));
      }
      case "POST /api/sm/v1/bootstrap": {
        const hash = Buffer.from(
          await crypto.subtle.digest("SHA-256", new TextEncoder().encode(String(body["token"]))),
        ).toString("hex");
        const token = tokens.get(hash);
        if (token?.status !== "unused") throw new Refusal(401, "invalid_token");
        token.status = "used";
        const id = String(body["client_id"]);
        machines.set(id, { publicKey: String(body["public_key"]), token: hash });
        for (const one of token.folders) {
          const folder = folderOf(String(one["folder_id"]));
          const key = one["key_version"] === folder.key_version ? (one["encrypted_folder_key"] as string) : null;
          const permission = one["permission"] as "read";
          folder.grants.push({
            kind: "client",
            id,
            permission,
            encrypted_key: key,
            encrypted_key_alg: key === null ? null : "box-token",
          });
        }
        return ok({ client_id: id });
      }
      case "GET /api/sm/v1/client":
        if (!machines.has(caller)) throw new Refusal(401, "invalid_token");
        return ok({ client_id: caller, application_id: applicationId, org_id: newId(), name: "web", folders: [] });
      case "GET /api/sm/v1/folders": {
        const mine = [...server.folders.values()].filter(({ grants }) => grants.some(({ id }) => id === caller));
        return ok({ data: mine.map((one) => folderView(one, `client:${caller}`)) });
      }
      case "GET /api/sm/v1/secrets": {
        const mine = [...server.folders.values()].filter(({ grants }) => grants.some(({ id }) => id === caller));
        return ok({
          data: mine.flatMap(({ id, secrets }) =>
            secrets.map((one) => ({ ...one, history_seq: seqOf(`folder:${id}`) })),
          ),
        });
      }
      default:
        if (!pathname.startsWith("/api/vaults")) throw new Refusal(404, "not_found", `${route} is not served here`);
        return part.answer(
          caller,
          { method: request.method, path: request.path, body, ifMatch: request.headers["if-match"] },
          { append, page, seqOf, orgOf, emailOf: (id) => people.get(id)?.email ?? "" },
        );
    }
  };

  /** Does a request and takes it back when it is to be lost. */
  const answerOnly = async (request: Received): Promise<{ status: number; body: unknown }> => {
    const { histories, folders, organizations, vaults, records } = server;
    const held: Map<string, unknown>[] = [histories, folders, organizations, vaults, records];
    const before = server.loses(request) ? held.map((map) => [...structuredClone(map)]) : [];
    const honest = await answer(request);
    for (const [index, entries] of before.entries()) {
      held[index]?.clear();
      for (const [key, value] of entries) held[index]?.set(key, value);
    }
    return honest;
  };

  const started = await startServer(t, (request, response) => {
    void answerOnly(request)
      .catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        return { status: error.status, body: { error: error.code, message: error.message } };
      })
      .then(async (honest) => {
        const body = await server.lie(request, honest);
        if (body instanceof Refusal) {
          const { code, message, details } = body;
          json(response, body.status, { error: code, message, details });
        } else if (body === undefined) response.writeHead(204).end();
        else json(response, honest.status === 204 ? 200 : honest.status, body);
      });
  });
  part.listen(started.server);
  t.teardown(() => {
    part.close();
    return Promise.resolve();
  });
  server.url = started.url;
  server.received = started.received;
  return server;
}

/** A folder as the server lists it to people, to be lied about. */
export type ShownFolder = FolderView;
