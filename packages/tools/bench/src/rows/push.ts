import { connectBus } from "@coffer/bus";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import { changeRecord } from "../change-record.ts";
import { presentMoment, startDevices } from "../devices/devices.ts";
import { median } from "../measure.ts";
import { absoluteFigure, type Figure } from "../row.ts";
import type { VaultBench, VaultRow } from "../vault-row.ts";

const pushes = 200;

/** From the response of a write to the frame on a device at another replica, beside a NATS round trip. */
export const push: VaultRow = {
  name: "push",
  async run(bench: VaultBench): Promise<Figure[]> {
    const { coffer, seeded } = bench;
    const [, reader = seeded.people[0]] = seeded.people;
    const replica = await coffer.startAnother("sync");
    const devices = startDevices();
    const telemetry = createTelemetry({ service: "scanner", level: "fatal" });
    const bus = connectBus({
      url: coffer.natsUrl,
      ...coffer.natsCredentials.scanner,
      service: "scanner",
      telemetry,
    });
    try {
      await until("NATS is there", () => bus.connected);
      const since = await presentMoment(devices, { url: replica.url, token: reader.token });
      await devices.request("open", {
        url: replica.url,
        tokens: [reader.token],
        count: 1,
        atATime: 1,
        sync: { since },
      });
      const times: number[] = [];
      const trips: number[] = [];
      for (let n = 0; n < pushes; n += 1) {
        await devices.request("arm", null);
        const answered = await changeRecord(bench);
        const { at } = await devices.request("arrivals", { count: 1 });
        times.push(Math.max(0, (at[0] ?? Number.NaN) - answered));
        const sent = performance.now();
        await bus.flush();
        trips.push(performance.now() - sent);
      }
      times.sort((a, b) => a - b);
      const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
      return [
        absoluteFigure("push to another device, across replicas: p50", "ms", median(times), 5, median(trips)),
        absoluteFigure("push to another device, across replicas: p99", "ms", p99, 25),
      ];
    } finally {
      devices.end();
      await bus.close();
      await replica.stop();
    }
  },
};
