import { ServiceError } from "@coffer/errors";
import type { Upgrade } from "@coffer/http";
import type { UserClaims } from "@coffer/tokens";
import type { WebSocket } from "ws";
import { takeMessage } from "../answers/take-message.ts";
import { codeOfError } from "../connections/close-codes.ts";
import { Connection } from "../connections/connection.ts";
import { limitConnections } from "../connections/limit-connections.ts";
import type { Deps } from "../deps.ts";
import { authorizeSession, authorizeToken, type Rejection } from "./authorize.ts";
import { readOffer } from "./read-offer.ts";

/** WS /api/sync/ws */
export async function openConnection(deps: Deps, upgrade: Upgrade): Promise<void> {
  const outcome = await open(deps, upgrade);
  if (outcome === "gone") return;
  upgrade.span.setAttribute("http.response.status_code", 101);
  if (outcome !== "accepted") upgrade.span.setAttribute("coffer.sync.close_code", outcome.code);
}

async function open(deps: Deps, upgrade: Upgrade): Promise<"gone" | "accepted" | Rejection> {
  requireNotDraining(deps);
  requireKnownOrigin(deps, upgrade);
  const { token, protocol } = readOffer(upgrade);
  const result = await authorizeToken(deps, token);
  // Last and without a pause: a session that ends from now on is found among the connections.
  requireNotDraining(deps);
  const rejection = "code" in result ? result : authorizeSession(deps, result.sessionId);
  const socket = deps.handshake(upgrade, protocol);
  if (socket === undefined) return "gone";
  if (rejection !== undefined) reject(deps, socket, rejection);
  else if (!("code" in result)) accept(deps, upgrade, socket, result);
  return rejection ?? "accepted";
}

/** A connection that is added while draining would not be closed. */
function requireNotDraining({ state }: Pick<Deps, "state">): void {
  if (state.draining) throw new ServiceError("unavailable", "this replica shuts down: connect again");
}

/**
 * Pages of other sites must not connect with a visitor's token. Clients other than browsers send no
 * origin.
 */
function requireKnownOrigin({ allowedOrigins }: Pick<Deps, "allowedOrigins">, { incoming }: Upgrade): void {
  const { origin } = incoming.headers;
  if (origin !== undefined && !allowedOrigins.has(origin))
    throw new ServiceError("access_denied", "pages of this origin may not connect (COFFER_SYNC_ALLOWED_ORIGINS)");
}

function reject({ metrics }: Deps, socket: WebSocket, { code, reason }: Rejection): void {
  socket.on("error", () => undefined);
  metrics.closed(code);
  socket.close(code, reason);
}

function accept(deps: Deps, { request, socket: stream }: Upgrade, socket: WebSocket, claims: UserClaims): void {
  const { id: requestId, ip, userAgent } = request;
  const holder = { ...claims, connectionId: deps.newId(), requestId, ip, userAgent };
  const connection = new Connection(holder, socket, stream);
  const registries = [deps.connections, deps.heartbeat, deps.expiries];
  for (const registry of registries) registry.add(connection);
  limitConnections(deps, connection);
  socket.on("message", (data: Buffer, isBinary) => takeMessage(deps, connection, data, isBinary));
  socket.on("pong", () => deps.heartbeat.pong(connection));
  socket.on("error", (error) => {
    connection.closedWith ??= codeOfError(error);
  });
  socket.on("close", (code) => {
    for (const registry of registries) registry.remove(connection);
    deps.metrics.closed(connection.closedWith ?? code);
    connection.closedWith ??= code;
  });
}
