import type { JwtGiven, Speaker } from "./case-file.ts";
import type { Connection } from "./connection.ts";
import { rightToken, signToken } from "./jwt.ts";
import type { Machine } from "./machine.ts";
import type { Person } from "./owner.ts";
import type { Socket } from "./socket.ts";
import type { Scope } from "./template.ts";
import { evaluate, lookUp } from "./template.ts";

/** What a case runs in. */
export interface Stage {
  connection: Connection;
  /** People whose access token a step may use, by name: `owner` is the one whose organization it is. */
  people: Readonly<Record<string, Person>>;
  /** The base address that machines name in their tokens. */
  audience: string;
  /** Signs events of Stripe; undefined where the runner has none. */
  stripeSecret?: string | undefined;
}

/** The case's own view: what it was given and has saved, from where it speaks, and what it has opened. */
export interface Run extends Stage {
  scope: Scope;
  addresses: Map<string, string | undefined>;
  sockets: Map<string, OpenSocket>;
}

/** A connection of a case. */
export interface OpenSocket {
  socket: Socket;
  /** How many of its messages the steps have heard or passed over. */
  heard: number;
  /** How many of its pings. */
  pinged: number;
}

/** The token with which a step speaks; undefined for one that says nobody. */
export async function tokenOf(run: Run, { as, jwt }: Pick<Speaker, "as" | "jwt">): Promise<string | undefined> {
  if (as === undefined) return undefined;
  const speaker = run.people[as] ?? lookUp(as, run.scope);
  if (isPerson(speaker)) return speaker.accessToken();
  const how = (await evaluate(jwt ?? rightToken, run.scope)) as JwtGiven; // evaluation keeps the shape
  return signToken(speaker as Machine, run.audience, how); // the names of machines are those of `machines`
}

const isPerson = (speaker: unknown): speaker is Person =>
  typeof speaker === "object" && speaker !== null && "accessToken" in speaker;

/** The source address of this name. */
export function addressOf({ addresses, connection }: Run, name = ""): string | undefined {
  if (!addresses.has(name)) addresses.set(name, connection.newAddress());
  return addresses.get(name);
}
