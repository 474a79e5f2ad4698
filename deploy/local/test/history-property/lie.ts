import type { Sent } from "./oracle.ts";

export interface Answered {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** One lie of the service during a deed. */
export interface Lie {
  readonly name: string;
  /** Answers without the real service. */
  instead?(sent: Sent): Answered | undefined;
  /** Changes the real response, also by a promise. May throw network errors. */
  after?(sent: Sent, answered: Answered): unknown;
}

export type Item = Record<string, unknown>;

export const folderList = /^\/api\/(?:org|sm\/v1)\/folders$/;
export const historyPath = /^\/api\/(?:(?:org|sm\/v1)\/(?:folders\/([^/]+)\/)?|vaults\/([^/]+)\/)history$/;
export const secretList = /^\/api\/(?:org\/folders\/([^/]+)|sm\/v1)\/secrets$/;
export const oneSecret = /^\/api\/(?:org\/folders\/[^/]+|sm\/v1)\/secrets\/[^/]+$/;
export const holderList = /^\/api\/(?:org\/folders|vaults)\/([^/]+)\/members$/;
export const vaultList = /^\/api\/vaults$/;
export const oneVault = /^\/api\/vaults\/([^/]+)$/;
export const recordList = /^\/api\/vaults\/([^/]+)\/records$/;
export const oneRecord = /^\/api\/vaults\/([^/]+)\/records\/([^/]+)$/;

export const isGet = ({ method }: Sent, pattern: RegExp, pathname: string): RegExpExecArray | null =>
  method === "GET" ? pattern.exec(pathname) : null;

export const dataOf = (body: unknown): Item[] =>
  ((body as { data?: Item[] } | undefined)?.data ?? []).map((one) => ({ ...one }));

/** Changes the folders and vaults in a response. */
export function withViews(sent: Sent, body: unknown, change: (view: Item) => Item): unknown {
  if (isGet(sent, folderList, sent.pathname) !== null || isGet(sent, vaultList, sent.pathname) !== null)
    return { ...(body as Item), data: dataOf(body).map(change) };
  return isGet(sent, oneVault, sent.pathname) === null ? body : change(body as Item);
}

/** A record as the service shows it, without its key. */
export function asRecord(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== "key_version"));
}
