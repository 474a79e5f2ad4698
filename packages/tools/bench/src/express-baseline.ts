import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A bare Express 5 route, in its own process, that answers the given bytes. */
export async function startExpress(body: string): Promise<{ url: string; pid: number; close(): void }> {
  const child = fork(fileURLToPath(new URL("./express-process.ts", import.meta.url)), {
    env: { PATH: process.env["PATH"], NODE_ENV: "production" },
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("message", (address) => resolve(address as string)); // express-process.ts sends nothing else
    child.once("exit", () => reject(new Error("the Express baseline did not start")));
    child.send(body);
  });
  return { url, pid: child.pid ?? 0, close: () => child.kill() };
}
