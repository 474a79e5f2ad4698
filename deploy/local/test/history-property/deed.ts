import type { Actor } from "./actor.ts";
import type { Res } from "./truth.ts";

/** The action of a step. */
export interface Deed {
  name: string;
  actor: Actor;
  /** Its folder or vault. */
  res?: Res | undefined;
  run(): Promise<unknown>;
}

export const permissions = ["read", "write", "manage"] as const;

export const idOf = (res: Res): string => res.slice(res.indexOf(":") + 1);
export const personOf = (who: string): string => who.slice("user:".length);
