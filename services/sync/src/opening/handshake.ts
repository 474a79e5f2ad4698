import { ServiceError } from "@coffer/errors";
import type { Upgrade } from "@coffer/http";
import type { ServerOptions, WebSocket } from "ws";
import { WebSocketServer } from "ws";

/** Answers an upgrade with 101. Returns nothing when its caller has gone meanwhile. */
export type Handshake = (upgrade: Upgrade, protocol: string | undefined) => WebSocket | undefined;

const mostMessageBytes = 64 * 1024;

// The types of ws do not know closeTimeout yet.
const options: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  // With it a connection takes some 220 KiB more.
  perMessageDeflate: false,
  maxPayload: mostMessageBytes,
  // A message has a few hundred bytes: what comes in shreds is no message.
  maxFragments: 64,
  // Nor is what comes in so many pieces of one frame: TCP brings 64 KiB in some fifty.
  maxBufferedChunks: 256,
  // For the answer to a close; then the connection is cut.
  closeTimeout: 2_000,
};

/**
 * Makes the handshake.
 * @throws ServiceError `invalid_request` for an upgrade that is not one of RFC 6455
 */
export function createHandshake(): Handshake {
  const current: { headers: Upgrade["headers"]; protocol: string | undefined; refusal: Error | undefined } = {
    headers: [],
    protocol: undefined,
    refusal: undefined,
  };
  // Without this ws would select the first protocol that is offered, which may be the token.
  const server = new WebSocketServer({ ...options, handleProtocols: () => current.protocol ?? false });
  server.on("headers", (lines) => {
    for (const [name, value] of current.headers) lines.push(`${name}: ${value}`);
  });
  server.on("wsClientError", (error) => {
    current.refusal = error;
  });

  // All of it happens within the call: what is `current` cannot be another's.
  return ({ incoming, socket, head, headers }, protocol) => {
    Object.assign(current, { headers, protocol, refusal: undefined });
    let accepted: WebSocket | undefined;
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      accepted = webSocket;
    });
    const { refusal } = current;
    if (refusal !== undefined)
      throw new ServiceError("invalid_request", `no WebSocket can be opened: ${refusal.message}`);
    return accepted;
  };
}
