import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the ports that systems give to outgoing connections (Linux from 32768, IANA from 49152) and to
// NodePorts of Kubernetes (from 30000): between the choice and its use, no connection takes the port.
const first = 10_240;
const afterLast = 30_000;
const attempts = 100;

/**
 * A port on 127.0.0.1 that was free a moment ago. The caller must handle the loss of a race for it,
 * which only another choice at random can win. Throws the system's error when a hundred are taken.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(first, afterLast);
    try {
      await listenOnce(port);
      return port;
    } catch (error) {
      if (attempt === attempts) throw error;
    }
  }
}

function listenOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}
