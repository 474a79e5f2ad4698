import { memoryTrust, type TrustStorage } from "../../src/index.ts";
import type { VaultView } from "../../src/vaults/views.ts";
import { type Company, startCompany } from "./history-people.ts";
import type { HistoryServer } from "./history-server.ts";

export const login = { type: "login", fields: { name: "Example", password: "s3cret" } };
export const yes = (): Promise<boolean> => Promise.resolve(true);

/** A shared vault of alice with a record. */
export async function withVault(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const { id } = await company.alice.client().vaults.create("Team", { type: "shared" });
  const record = await company.alice.client().records.create(id, login);
  const res = `vault:${id}` as const;
  return { ...company, id, record, res };
}

/** A colleague who has accepted the vault that alice shares. */
export async function newReader(
  company: Company,
  id: string,
  email: string,
  permission: "read" | "write" | "manage" = "write",
) {
  const member = await company.join(email);
  await company.alice.client().vaults.share(id, { userId: member.session.user.id, permission });
  await member.client().vaults.accept(id);
  return member;
}

/** Lets the service show something else of the vaults. */
export const showVaults =
  (change: (one: VaultView) => object): HistoryServer["lie"] =>
  ({ path, method }, { body }) => {
    if (method !== "GET" || !/^\/api\/vaults(\/[0-9a-f-]{36})?(\?|$)/.test(path)) return body;
    const list = body as { data?: VaultView[] };
    return list.data === undefined ? change(body as VaultView) : { data: list.data.map(change) };
  };

export const seals = ({ received }: HistoryServer): string[] =>
  received
    .filter(({ method, path }) => method !== "GET" && !path.endsWith("/pin"))
    .map(({ method, path }) => `${method} ${path}`);

/** The trust of a device that has seen nothing. */
export const newDevice = (): TrustStorage => memoryTrust();
