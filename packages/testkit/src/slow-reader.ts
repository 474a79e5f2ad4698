import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

/** A response that is not read before `read`. */
export interface SlowAnswer {
  status: number;
  /** Reads all of it. Rejects if it is cut. */
  read(): Promise<string>;
  /** Disconnects. */
  leave(): void;
}

/** Sends a request, and reads only the head of the response. */
export async function requestSlowly(url: string, headers: Record<string, string>): Promise<SlowAnswer> {
  const outgoing = request(url, { headers, agent: false });
  outgoing.end();
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage]; // as Node documents the event
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
