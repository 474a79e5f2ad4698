import type { HolderId } from "@coffer/history";

/** The kind and the id of a member or machine, `user:<id>` or `client:<id>`. */
export function holderParts(who: HolderId): { kind: "user" | "client"; id: string } {
  const kind = who.startsWith("user:") ? "user" : "client";
  return { kind, id: who.slice(kind.length + 1) };
}
