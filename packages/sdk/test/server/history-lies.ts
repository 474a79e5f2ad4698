import { encodeBase64Url, encodeText, signEs256 } from "@coffer/crypto";
import type { HistoryServer } from "./history-server.ts";

/** An entry with these claims, whatever they say. */
export async function rawEntry(claims: object, privateKey: Uint8Array): Promise<string> {
  const header = '{"alg":"ES256","typ":"coffer-history+jwt"}';
  const signed = [header, JSON.stringify(claims)].map((part) => encodeBase64Url(encodeText(part))).join(".");
  return `${signed}.${encodeBase64Url(await signEs256(privateKey, encodeText(signed)))}`;
}

export const notation = "coffer://production/database/field/password";

/** Lets the service show something else of the caller's folders. */
export const showFolders =
  (change: (one: Record<string, unknown>) => object): HistoryServer["lie"] =>
  ({ path, method }, { body }) =>
    path === "/api/org/folders" && method === "GET"
      ? { data: (body as { data: Record<string, unknown>[] }).data.map(change) }
      : body;
