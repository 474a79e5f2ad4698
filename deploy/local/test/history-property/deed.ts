import type { Actor } from "./actor.ts";
import type { Res } from "./truth.ts";

/** What somebody does in a step. */
export interface Deed {
  name: string;
  actor: Actor;
  /** The folder or vault that it is about. */
  res?: Res | undefined;
  run(): Promise<unknown>;
}

export const permissions = ["read", "write", "manage"] as const;

export const idOf = (res: Res): string => res.slice(res.indexOf(":") + 1);
export const personOf = (who: string): string => who.slice("user:".length);
