import { ServiceError } from "@coffer/errors";
import type { Upgrade } from "@coffer/http";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";

/** Answers an upgrade with 101. Returns undefined if the client has gone. */
export type Handshake = (upgrade: Upgrade, protocol: string | undefined) => WebSocket | undefined;

const mostMessageBytes = 64 * 1024;

// closeTimeout is missing in the types of ws.
const options: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  // Compression would cost about 220 KiB per connection.
  perMessageDeflate: false,
  maxPayload: mostMessageBytes,
  // Messages have a few hundred bytes; these limits bound tiny fragments.
  maxFragments: 64,
  // TCP delivers 64 KiB in about fifty chunks.
  maxBufferedChunks: 256,
  // For the close frame of the client, in milliseconds; then the connection is cut.
  closeTimeout: 2_000,
};

/** The handshake throws ServiceError `invalid_request` for an upgrade that violates RFC 6455. */
export function createHandshake(): Handshake {
  const current: { headers: Upgrade["headers"]; protocol: string | undefined; refusal: Error | undefined } = {
    headers: [],
    protocol: undefined,
    refusal: undefined,
  };
  // By default ws selects the first offered protocol, which may be the token.
  const server = new WebSocketServer({ ...options, handleProtocols: () => current.protocol ?? false });
  server.on("headers", (lines) => {
    for (const [name, value] of current.headers) lines.push(`${name}: ${value}`);
  });
  server.on("wsClientError", (error) => {
    current.refusal = error;
  });

  // handleUpgrade is synchronous, so `current` belongs to this call.
  return ({ incoming, socket, head, headers }, protocol) => {
    Object.assign(current, { headers, protocol, refusal: undefined });
    let accepted: WebSocket | undefined;
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      accepted = webSocket;
    });
    const { refusal } = current;
    if (refusal !== undefined)
      throw new ServiceError("invalid_request", `the WebSocket handshake failed: ${refusal.message}`);
    return accepted;
  };
}
