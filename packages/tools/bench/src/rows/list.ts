import { startExpress } from "../express-baseline.ts";
import { measure, type Measured, median } from "../measure.ts";
import { absoluteFigure, type Bench, type Figure, type Row } from "../row.ts";
import type { Request } from "../load.ts";
import { addresses } from "./secret-read.ts";

/** The list of 500 secrets, beside a bare Express route with the same bytes, and its 304 for a poller. */
export const list: Row = {
  name: "list",
  async run({ coffer, seeded, loader, seconds, rounds }: Bench): Promise<Figure[]> {
    const lists = seeded.machines.map(({ token }): Request => {
      return { method: "GET", path: "/api/sm/v1/secrets", headers: { authorization: `Bearer ${token}` } };
    });
    const polls: Request[] = [];
    let body = "";
    for (const { token } of seeded.machines.slice(0, 200)) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${coffer.url}/api/sm/v1/secrets`, {
        headers: { ...headers, "x-forwarded-for": `10.200.0.${polls.length}` },
      });
      body = await answer.text();
      polls.push({
        method: "GET",
        path: "/api/sm/v1/secrets",
        headers: { ...headers, "if-none-match": answer.headers.get("etag") ?? "" },
      });
    }
    const groups = { all: coffer.pids.all };
    const load = { url: coffer.url, connections: 8, seconds, addresses };
    const express = await startExpress(body);
    const bare: Measured[] = [];
    const listed: Measured[] = [];
    const polled: Measured[] = [];
    try {
      for (let round = 0; round < rounds; round += 1) {
        listed.push(await measure(loader, { ...load, requests: lists, expect: 200 }, groups, coffer.drained));
        bare.push(
          await measure(
            loader,
            { ...load, url: express.url, requests: [{ method: "GET", path: "/" }], expect: 200 },
            { all: [express.pid] },
          ),
        );
        polled.push(await measure(loader, { ...load, requests: polls, expect: 304 }, groups, coffer.drained));
      }
    } finally {
      express.close();
    }
    const cpuMilliseconds = (results: Measured[]): number =>
      median(results.map(({ cpuMicroseconds }) => (cpuMicroseconds["all"] ?? 0) / 1000));
    return [
      absoluteFigure(
        "list of 500 secrets: CPU of all processes",
        "ms",
        cpuMilliseconds(listed),
        10,
        cpuMilliseconds(bare),
      ),
      absoluteFigure("304 of the list: CPU of all processes", "ms", cpuMilliseconds(polled), 0.3),
    ];
  },
};
