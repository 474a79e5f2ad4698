import { mock } from "node:test";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import t from "tap";
import { startSweeper } from "@coffer/service";

const { log } = createTelemetry({ service: "test", level: "silent" });
const hour = 60 * 60 * 1000;

await t.test("the first sweep is within a minute of the start, for any interval", async (t) => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  t.teardown(() => mock.timers.reset());
  let batches = 0;
  const batch = () => Promise.resolve(++batches % 3 !== 0);
  const sweeper = startSweeper({ everyMilliseconds: hour, batch, failure: "no" }, log);
  mock.timers.tick(60_000);
  await sweeper.close();
  t.equal(batches, 1, "and ends after the batch under way");
});

await t.test("a nudge sweeps at once, and once more when it comes during a sweep", async (t) => {
  let batches = 0;
  const waiting: ((more: boolean) => void)[] = [];
  const batch = () => {
    batches += 1;
    return new Promise<boolean>((resolve) => waiting.push(resolve));
  };
  const sweeper = startSweeper({ everyMilliseconds: hour, batch, failure: "no" }, log);
  const finish = (more: boolean) => waiting.shift()?.(more);
  sweeper.nudge();
  t.equal(batches, 1);
  sweeper.nudge();
  t.equal(batches, 1, "one sweep at a time");
  finish(false);
  await until("the second", () => batches === 2);
  finish(true);
  await until("the last batch", () => batches === 3);
  finish(false);
  await until("rest", () => {
    sweeper.nudge();
    return batches === 4;
  });
  finish(false);
  await sweeper.close();
  sweeper.nudge();
  t.equal(batches, 4);
});
