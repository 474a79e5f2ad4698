import type { AddressInfo } from "node:net";
import pg from "pg";
import { WebSocketServer } from "ws";
import { preciseNow } from "./devices.ts";

// The child process of bare-server.ts.
process.on("message", (message) => {
  const command = message as { postgresUrl: string; vaultId: string } | { text: string }; // bare-server.ts sends nothing else
  if ("text" in command) broadcast(command.text);
  else serve(command);
});

let server: WebSocketServer | undefined;

function serve({ postgresUrl, vaultId }: { postgresUrl: string; vaultId: string }): void {
  const pool = new pg.Pool({ connectionString: postgresUrl, options: "-c search_path=vaults,public" });
  const open = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  server = open;
  open.on("connection", (socket) => {
    socket.on("message", () => {
      const all = "SELECT id, vault_id, type, encrypted_data, updated_at FROM records WHERE vault_id = $1";
      void pool.query(all, [vaultId]).then(({ rows }) => socket.send(JSON.stringify({ changes: rows })));
    });
  });
  open.on("listening", () => process.send?.(`http://127.0.0.1:${(open.address() as AddressInfo).port}`)); // a TCP server's
}

function broadcast(text: string): void {
  const began = preciseNow();
  const bytes = Buffer.from(text);
  for (const socket of server?.clients ?? []) socket.send(bytes, { binary: false });
  process.send?.(began);
}
