import { loadDescription } from "@coffer/openapi";
import t from "tap";
import { startInstallation } from "../src/installation.ts";
import { watchMemory } from "../src/memory.ts";
import { shownFindings } from "../src/report.ts";
import { runFuzz } from "../src/run-fuzz.ts";

const count = 120;
/** Few malformed requests get through to these: they need more. */
const rare = { operations: ["joinFolderHistory", "extendOrgHistory"], count: 500 };

const installation = await startInstallation();
t.teardown(() => installation.close());
const { url, managementUrl, stripeSecret } = installation;
const description = loadDescription();
// A fixed seed, so that other changes are not stopped by chance; `npm run fuzz` uses a new one.
const seed = "5eed5eed";

await t.test(
  `${count} malformed requests to most operations, ${rare.count} to the others: no 5xx, none late, and each answered as described`,
  async (t) => {
    const memory = watchMemory(managementUrl);
    const most = description.operations.map(({ id }) => id).filter((id) => !rare.operations.includes(id));
    const options = { url, description, seed, memory, stripeSecret };
    const results = [
      ...(await runFuzz({ ...options, count, only: most })),
      ...(await runFuzz({ ...options, count: rare.count, only: rare.operations })),
    ];
    t.equal(results.length, description.operations.length);
    for (const { operation, findings } of results)
      t.equal(findings.length, 0, `${operation} ${shownFindings(seed, findings)}`);

    // If everything was refused at authentication, nothing else was tested.
    for (const { operation, statuses } of results) {
      const answers = description.operations.find(({ id }) => id === operation)?.answers.keys() ?? [];
      const behind = [...answers].filter((status) => status < 300 || status === 403 || status === 409);
      t.ok(
        behind.some((status) => (statuses[status] ?? 0) > 0),
        `${operation} was reached: ${JSON.stringify(statuses)}`,
      );
    }
    const { early, late, resident } = memory.report();
    t.comment(`memory in use: ${early.toFixed(0)} → ${late.toFixed(0)} MiB, ${resident.toFixed(0)} MiB resident`);
    t.ok(late < early + 64, `memory in use does not grow: ${early.toFixed(0)} → ${late.toFixed(0)} MiB`);
    t.ok(resident < 1024, `resident: ${resident.toFixed(0)} MiB`);
  },
);

await t.test("the installation answers as before", async (t) => {
  const began = performance.now();
  const ready = await fetch(`${managementUrl}/readyz`);
  t.match(await ready.json(), { status: "ready" });
  t.ok(performance.now() - began < 5_000);
});
