import type { Resource } from "@coffer/history";
import { CofferError, type PersonClient } from "../../src/index.ts";
import { memoryTrust, type TrustStorage } from "../../src/trust/trust-storage.ts";
import { type Member, signPastClients, startCompany } from "./history-people.ts";
import type { HistoryServer } from "./history-server.ts";

export const idOf = ({ session }: Member): string => session.user.id;

export const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof CofferError ? error.code : String(error)),
  );

/** A folder and a vault of Alice's, which Olga and Mallory manage too. */
export async function withMallory(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const { alice, server, join } = company;
  const [olga, mallory] = [await join("olga@example.com", "admin"), await join("mallory@example.com", "admin")];
  const { id: folder } = await alice.client().folders.create("payroll");
  const { id: vault } = await alice.client().vaults.create("Team", { type: "shared" });
  const share = async (by: PersonClient, userId: string): Promise<void> => {
    await by.folders.share(folder, { userId, permission: "manage" });
    await by.vaults.share(vault, { userId, permission: "manage" });
  };
  for (const member of [olga, mallory]) {
    await share(alice.client(), idOf(member));
    await member.client().folders.accept(folder);
    await member.client().vaults.accept(vault);
  }
  await olga.client().folders.list();
  await olga.client().vaults.list();
  /** Olga removes Mallory, and the service shows her no heads and no lists. */
  const remove = async (): Promise<void> => {
    server.lie = ({ path }, { body }) => {
      if (path.endsWith("/heads")) return { data: {} };
      return path === "/api/org/folders" || path.startsWith("/api/vaults?") ? { data: [] } : body;
    };
    await olga.client({ trust: memoryTrust() }).members.remove(idOf(mallory));
    server.lie = (_, { body }) => body;
  };
  const comeBack = async (): Promise<void> => {
    const { token } = await olga.client().invites.create("mallory@example.com", "member");
    await mallory.client().invites.accept(token);
  };
  const res: Record<"folder" | "vault", Resource> = { folder: `folder:${folder}`, vault: `vault:${vault}` };
  /** Mallory signs another name. */
  const goOn = (kind: "folder" | "vault", name: string) => signPastClients(server, mallory, res[kind], { name });
  const addAgain = (): Promise<void> => share(olga.client(), idOf(mallory));
  const use = (kind: "folder" | "vault", trust: TrustStorage = alice.trust): Promise<string> =>
    outcomeOf(
      kind === "folder"
        ? alice.client({ trust }).secrets.set(`coffer://${folder}/database/field/password`, "x")
        : alice.client({ trust }).records.create(vault, { type: "login", fields: { password: "x" } }),
    );
  return { ...company, olga, mallory, folder, vault, res, remove, comeBack, goOn, addAgain, use };
}

/** Hides all folders and vaults while something happens. */
export async function hiding(server: HistoryServer, work: () => Promise<unknown>): Promise<void> {
  server.lie = ({ method, path }, { body }) =>
    method === "GET" && (path === "/api/org/folders" || path.startsWith("/api/vaults?")) ? { data: [] } : body;
  await work();
  server.lie = (_, { body }) => body;
}
