import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:http";

/** An answer of which nothing is taken before `read`. */
export interface SlowAnswer {
  status: number;
  /** Takes all of it. Rejects when it is cut off. */
  read(): Promise<string>;
  /** Goes away. */
  leave(): void;
}

/** Asks, and takes the head of the answer only. */
export async function askSlowly(url: string, headers: Record<string, string>): Promise<SlowAnswer> {
  const outgoing = request(url, { headers, agent: false });
  outgoing.end();
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  return {
    status: answer.statusCode ?? 0,
    read: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer); // no encoding was set
      return Buffer.concat(chunks).toString("utf8");
    },
    leave: () => outgoing.destroy(),
  };
}
