import { ServiceError } from "@coffer/errors";
import type { Upgrade } from "@coffer/http";
import type { UserClaims } from "@coffer/tokens";
import type { WebSocket } from "ws";
import { takeMessage } from "../answers/take-message.ts";
import { codeOfError } from "../connections/close-codes.ts";
import { Connection } from "../connections/connection.ts";
import { limitConnections } from "../connections/limit-connections.ts";
import type { Deps } from "../deps.ts";
import type { TurnedAway } from "./judge.ts";
import { judgeSession, judgeToken } from "./judge.ts";
import { readOffer } from "./read-offer.ts";

/** WS /api/sync/ws */
export async function openConnection(deps: Deps, upgrade: Upgrade): Promise<void> {
  const outcome = await open(deps, upgrade);
  if (outcome === "gone") return;
  upgrade.span.setAttribute("http.response.status_code", 101);
  if (outcome !== "kept") upgrade.span.setAttribute("coffer.sync.close_code", outcome.code);
}

async function open(deps: Deps, upgrade: Upgrade): Promise<"gone" | "kept" | TurnedAway> {
  requireLasting(deps);
  requireKnownOrigin(deps, upgrade);
  const { token, protocol } = readOffer(upgrade);
  const verdict = await judgeToken(deps, token);
  // Asked last, and acted on without a pause: who is ended from now on is among the connections.
  requireLasting(deps);
  const turnedAway = "code" in verdict ? verdict : judgeSession(deps, verdict.sessionId);
  const socket = deps.handshake(upgrade, protocol);
  if (socket === undefined) return "gone";
  if (turnedAway !== undefined) turnAway(deps, socket, turnedAway);
  else if (!("code" in verdict)) keep(deps, upgrade, socket, verdict);
  return turnedAway ?? "kept";
}

/** Who came once the connections are being closed would be left over. */
function requireLasting({ state }: Pick<Deps, "state">): void {
  if (state.draining) throw new ServiceError("unavailable", "this replica ends: connect again");
}

/** A page of another site must not connect with what its visitor's browser holds. Who is no browser sends no origin. */
function requireKnownOrigin({ allowedOrigins }: Pick<Deps, "allowedOrigins">, { incoming }: Upgrade): void {
  const { origin } = incoming.headers;
  if (origin !== undefined && !allowedOrigins.has(origin))
    throw new ServiceError("access_denied", "pages of this origin may not connect (COFFER_SYNC_ALLOWED_ORIGINS)");
}

function turnAway({ metrics }: Deps, socket: WebSocket, { code, reason }: TurnedAway): void {
  socket.on("error", () => undefined);
  metrics.closed(code);
  socket.close(code, reason);
}

function keep(deps: Deps, { request, socket: stream }: Upgrade, socket: WebSocket, claims: UserClaims): void {
  const { id: requestId, ip, userAgent } = request;
  const holder = { ...claims, connectionId: deps.newId(), requestId, ip, userAgent };
  const connection = new Connection(holder, socket, stream);
  const places = [deps.connections, deps.heartbeat, deps.expiries];
  for (const place of places) place.add(connection);
  limitConnections(deps, connection);
  socket.on("message", (data: Buffer, isBinary) => takeMessage(deps, connection, data, isBinary));
  socket.on("pong", () => deps.heartbeat.pong(connection));
  socket.on("error", (error) => {
    connection.closedWith ??= codeOfError(error);
  });
  socket.on("close", (code) => {
    for (const place of places) place.remove(connection);
    deps.metrics.closed(connection.closedWith ?? code);
    connection.closedWith ??= code;
  });
}
