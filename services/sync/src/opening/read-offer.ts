import { ServiceError } from "@coffer/errors";
import type { Upgrade } from "@coffer/http";

/** The token and subprotocol of a client. */
export interface Offer {
  readonly token: string;
  /** The subprotocol to select; undefined: none. */
  readonly protocol: string | undefined;
}

const ours = "coffer.sync.v1";
const prefix = "bearer.";
// The compact form of a JWT; the signature is verified later.
const tokenForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Finds the access token: in the query, as the protocol `bearer.<token>` beside `coffer.sync.v1`,
 * or as the only protocol, with or without `bearer.`. A sole protocol is then selected, since its
 * client would otherwise fail.
 * @throws ServiceError `invalid_token` if there is none, or two that differ
 */
export function readOffer({ query, incoming }: Pick<Upgrade, "query" | "incoming">): Offer {
  const offered = protocolsOf(incoming.headers["sec-websocket-protocol"]);
  const { tokens, protocol } = offered.includes(ours)
    ? { tokens: offered.filter((name) => name.startsWith(prefix)).map(withoutPrefix), protocol: ours }
    : onlyProtocol(offered);
  const inQuery = query["token"];
  const shown = new Set([...(inQuery === undefined ? [] : [inQuery].flat()), ...tokens]);
  const [token] = shown;
  if (token === undefined)
    throw new ServiceError("invalid_token", "an access token is required, as ?token= or in Sec-WebSocket-Protocol");
  if (shown.size > 1) throw new ServiceError("invalid_token", "two different access tokens were sent: send one");
  return { token, protocol };
}

function onlyProtocol(offered: readonly string[]): { tokens: string[]; protocol: string | undefined } {
  const [first, second] = offered;
  if (first === undefined || second !== undefined) return { tokens: [], protocol: undefined };
  const token = withoutPrefix(first);
  return tokenForm.test(token) ? { tokens: [token], protocol: first } : { tokens: [], protocol: undefined };
}

function withoutPrefix(name: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

function protocolsOf(header: string | undefined): string[] {
  return header === undefined ? [] : header.split(",").map((name) => name.trim());
}
