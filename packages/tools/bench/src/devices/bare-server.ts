import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A bare `ws` server in its own process. */
export interface BareServer {
  url: string;
  pid: number;
  /** Sends a text to every connection; resolves to its start time in milliseconds since the Unix epoch. */
  broadcast(text: string): Promise<number>;
  end(): void;
}

/** Starts it. It answers any message with all records of a vault, read by one bare `pg` query. */
export async function startBareServer(vault: { postgresUrl: string; vaultId: string }): Promise<BareServer> {
  const child = fork(fileURLToPath(new URL("./bare-server-process.ts", import.meta.url)), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const next = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", () => reject(new Error("the bare server ended")));
    });
  child.send(vault);
  const url = (await next()) as string; // its first message
  return {
    url,
    pid: child.pid ?? 0,
    broadcast: async (text) => {
      const began = next();
      child.send({ text });
      return (await began) as number; // the answer to it
    },
    end: () => child.kill(),
  };
}
