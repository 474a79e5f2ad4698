import t from "tap";
import { freePort } from "@coffer/stores";

void t.test("no outgoing connection can get a free port before its use", async (t) => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));
  // Linux gives connections a port from 32768, others from 49152.
  t.ok(
    ports.every((port) => port >= 10_240 && port < 30_000),
    "outside the ports of connections",
  );
});
