import type { JwtGiven, Speaker } from "./case-file.ts";
import type { Connection } from "./connection.ts";
import { rightToken, signToken } from "./jwt.ts";
import type { Machine } from "./machine.ts";
import type { Person } from "./owner.ts";
import type { Receiver } from "./receiver.ts";
import type { Socket } from "./socket.ts";
import { evaluate, lookUp, type Scope } from "./template.ts";

/** The environment of a case. */
export interface Stage {
  connection: Connection;
  /** People whose access token a step may use, by name: `owner` owns the organization. */
  people: Readonly<Record<string, Person>>;
  /** The base address in machines' tokens. */
  audience: string;
  /** Signs events of Stripe; undefined without a signing secret. */
  stripeSecret?: string | undefined;
  /** The address for deliveries of audit records; undefined without a receiver. */
  receiver?: Receiver | undefined;
}

/** The case's own part: given and saved values, its source address, and its connections. */
export interface Run extends Stage {
  scope: Scope;
  addresses: Map<string, string | undefined>;
  sockets: Map<string, OpenSocket>;
}

/** A connection of a case. */
export interface OpenSocket {
  socket: Socket;
  /** How many of its messages the steps have received or skipped. */
  heard: number;
  /** How many of its pings the steps have received. */
  pinged: number;
}

/** The token of a step; undefined for an anonymous one. */
export async function tokenOf(run: Run, { as, jwt }: Pick<Speaker, "as" | "jwt">): Promise<string | undefined> {
  if (as === undefined) return undefined;
  const speaker = run.people[as] ?? lookUp(as, run.scope);
  if (isPerson(speaker)) return speaker.accessToken();
  const how = (await evaluate(jwt ?? rightToken, run.scope)) as JwtGiven; // evaluation preserves the shape
  return signToken(speaker as Machine, run.audience, how); // every machine's name is in `machines`
}

const isPerson = (speaker: unknown): speaker is Person =>
  typeof speaker === "object" && speaker !== null && "accessToken" in speaker;

/** The source address of this name. */
export function addressOf({ addresses, connection }: Run, name = ""): string | undefined {
  if (!addresses.has(name)) addresses.set(name, connection.newAddress());
  return addresses.get(name);
}
