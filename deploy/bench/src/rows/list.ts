import { measure, median } from "../measure.ts";
import type { Measured } from "../measure.ts";
import type { Bench, Figure, Row } from "../row.ts";
import { absoluteFigure } from "../row.ts";
import type { Request } from "../load.ts";
import { addresses } from "./secret-read.ts";

/** The list of 500 secrets, and the 304 of it that a poller gets. */
export const list: Row = {
  name: "list",
  async run({ coffer, seeded, loader, seconds, rounds }: Bench): Promise<Figure[]> {
    const lists = seeded.machines.map(({ token }): Request => {
      return { method: "GET", path: "/api/sm/v1/secrets", headers: { authorization: `Bearer ${token}` } };
    });
    const polls: Request[] = [];
    for (const { token } of seeded.machines.slice(0, 200)) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${coffer.url}/api/sm/v1/secrets`, {
        headers: { ...headers, "x-forwarded-for": `10.200.0.${polls.length}` },
      });
      await answer.arrayBuffer();
      polls.push({
        method: "GET",
        path: "/api/sm/v1/secrets",
        headers: { ...headers, "if-none-match": answer.headers.get("etag") ?? "" },
      });
    }
    const groups = { all: coffer.pids.all };
    const load = { url: coffer.url, connections: 8, seconds, addresses };
    const listed: Measured[] = [];
    const polled: Measured[] = [];
    for (let round = 0; round < rounds; round += 1) {
      listed.push(await measure(loader, { ...load, requests: lists, expect: 200 }, groups, coffer.settled));
      polled.push(await measure(loader, { ...load, requests: polls, expect: 304 }, groups, coffer.settled));
    }
    const cpuMilliseconds = (results: Measured[]): number =>
      median(results.map(({ cpuMicroseconds }) => (cpuMicroseconds["all"] ?? 0) / 1000));
    return [
      absoluteFigure("list of 500 secrets: CPU of all processes", "ms", cpuMilliseconds(listed), 10),
      absoluteFigure("304 of the list: CPU of all processes", "ms", cpuMilliseconds(polled), 0.3),
    ];
  },
};
