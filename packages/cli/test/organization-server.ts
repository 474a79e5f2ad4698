import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { box, contexts, decodeBase64, fingerprint, newId, newKey, newKeyPair } from "@coffer/crypto";
import type { HolderView, MemberView, TravelModeView } from "@coffer/sdk";
import { testDirectory, type TestScope } from "@coffer/testkit";
import { json } from "../../sdk/test/server/server.ts";
import { startVaultServer, type VaultServer } from "../../sdk/test/server/vault-server.ts";
import { coffer, type Outcome, type Start } from "./command.ts";

/** A person or a machine with a key. */
export interface KeyOwner {
  id: string;
  name: string;
  public_key: string;
  /** In hex. */
  fingerprint: string;
}

/** A service in memory with an organization, a folder and vaults, that says what a test wants it to say. */
export interface OrganizationServer extends VaultServer {
  organizationId: string;
  folderId: string;
  /** What it says who is in the organization, and under which e-mail. */
  members: MemberView[];
  /** What it says who holds the folder. */
  holders: HolderView[];
  /** What it says when the caller travels. */
  travel: TravelModeView;
  /** The ids to which keys were sealed, in order. */
  sealedTo: string[];
  /** A member with a key. */
  join(email: string): Promise<KeyOwner>;
  /** A machine of the one application. */
  enroll(name: string): Promise<KeyOwner>;
  /** Lists a person as a holder of the folder. */
  hold(owner: KeyOwner, kind?: HolderView["kind"]): void;
  /** Where the person's profile is. */
  home: string;
  /** Runs the command as the person. */
  run(args: string[], options?: Start): Promise<Outcome>;
}

export async function startOrganizationServer(t: TestScope): Promise<OrganizationServer> {
  const server = await startVaultServer(t);
  const { session } = server;
  const [organizationId, folderId, applicationId] = [newId(), newId(), newId()];
  const at = "2026-11-20T10:00:00Z";
  const keys = new Map<string, string>([[session.user.id, session.public_key]]);
  const machines: KeyOwner[] = [];
  const members: MemberView[] = [];
  const holders: HolderView[] = [];
  const sealedTo: string[] = [];
  const folder = {
    id: folderId,
    name: "production",
    permission: "manage",
    key_version: 1,
    encrypted_key: await box(decodeBase64(session.user_key), newKey(), contexts.folderKey(folderId)),
    encrypted_key_alg: "box-user",
    created_at: at,
    updated_at: at,
  };
  const memberOf = (user_id: string, email: string): MemberView => ({
    ...{ user_id, email, name: email, role: "member", status: "active", joined_at: at },
  });
  members.push(memberOf(session.user.id, session.user.email));
  const newOwner = async (name: string): Promise<KeyOwner> => {
    const [id, { publicKey }] = [newId(), await newKeyPair()];
    keys.set(id, publicKey);
    return { id, name, public_key: publicKey, fingerprint: (await fingerprint(publicKey)).hex };
  };
  const home = testDirectory(t);
  const organization: OrganizationServer = {
    ...server,
    ...{ organizationId, folderId, members, holders, sealedTo, home },
    travel: { enabled: false, updated_at: "1970-01-01T00:00:00Z" },
    async join(email) {
      const owner = await newOwner(email);
      members.push(memberOf(owner.id, email));
      return owner;
    },
    async enroll(name) {
      const owner = await newOwner(name);
      machines.push(owner);
      return owner;
    },
    hold: ({ id, name, public_key }, kind = "user") =>
      void holders.push({ kind, id, name, permission: "read", public_key }),
    run: (args, options = {}) => coffer(home, args, { ...options, env: { COFFER_URL: server.url, ...options.env } }),
  };
  organization.hold({ id: session.user.id, name: "me", public_key: session.public_key, fingerprint: "" });

  server.instead.http = ({ method, path, body }, response) => {
    const { pathname } = new URL(path, server.url);
    const say = (answer: unknown, status = 200): true => {
      json(response, status, answer);
      return true;
    };
    const nothing = (): true => {
      response.writeHead(204).end();
      return true;
    };
    const [, , noun = "", what = "", id = "", below = "", last = ""] = pathname.split("/");
    const route = `${method} ${noun} ${what} ${below}`.trimEnd();
    if (route === "GET account")
      return say({
        user: session.user,
        organizations: [{ id: organizationId, name: "Org", role: "owner", status: "active" }],
      });
    if (route === "GET account travel-mode") return say(organization.travel);
    if (route === "PUT account travel-mode") {
      organization.travel = { enabled: (JSON.parse(body) as TravelModeView).enabled, updated_at: at };
      for (const [each, { safe_for_travel: safe }] of server.vaults)
        if (organization.travel.enabled && !safe) server.vaults.delete(each);
      return say(organization.travel);
    }
    if (method === "GET" && noun === "users") return say({ public_key: keys.get(what) });
    if (method === "PUT" && noun === "vaults" && id === "members") {
      sealedTo.push(below);
      return say({ user_id: below, permission: "read", key_version: 1, added_at: at });
    }
    if (noun !== "org") return false;
    if (route === "GET org members") return say({ data: organization.members });
    if (route === "DELETE org members") return nothing();
    if (route === "GET org applications") return say({ data: id === "" ? [{ id: applicationId, name: "api" }] : [] });
    if (route === "GET org applications clients")
      return say({
        data: machines.map(({ id: client_id, name, public_key }) => ({
          ...{ client_id, name, public_key, status: "active", last_used_at: null },
        })),
      });
    if (route === "DELETE org applications clients") return nothing();
    if (route === "GET org folders") return say({ data: [folder] });
    if (route === "GET org folders members") return say({ data: organization.holders });
    if (route === "GET org folders secrets") return say({ data: [] });
    if (route === "PUT org folders members") {
      sealedTo.push(last);
      return say({ user_id: last, permission: "read", key_version: 1, added_at: at });
    }
    if (route === "DELETE org folders members") return nothing();
    if (route === "POST org folders rotate") {
      const { users, clients } = (JSON.parse(body) as { encrypted_keys: Sealed }).encrypted_keys;
      sealedTo.push(...users.map(({ user_id }) => user_id), ...clients.map(({ client_id }) => client_id));
      const encrypted_key = users.find(({ user_id }) => user_id === session.user.id)?.encrypted_key ?? "";
      Object.assign(folder, { encrypted_key, encrypted_key_alg: "jwe", key_version: folder.key_version + 1 });
      return say(folder);
    }
    return false;
  };

  const profile = { version: 1, device_id: newId(), url: server.url, sessions: { [server.url]: session } };
  mkdirSync(join(home, "coffer"));
  writeFileSync(join(home, "coffer", "profile.json"), JSON.stringify(profile));
  return organization;
}

interface Sealed {
  users: { user_id: string; encrypted_key: string }[];
  clients: { client_id: string }[];
}
