import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { watchMemory } from "../src/memory.ts";

const mebibyte = 1024 * 1024;

/** The report for a process with these amounts in use, in MiB, one at each sample. */
async function reportOf(amounts: readonly number[]) {
  const left = [...amounts];
  const server = createServer((_, response) => {
    const used = (left.shift() ?? 0) * mebibyte;
    response.end(
      [
        `nodejs_heap_size_used_bytes ${used - mebibyte}`,
        `nodejs_external_memory_bytes ${mebibyte}`,
        `process_resident_memory_bytes{service="x"} ${3 * used}`,
      ].join("\n"),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const memory = watchMemory(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  while (left.length > 0) await memory.sample();
  server.close();
  server.closeAllConnections();
  return memory.report();
}

await t.test("memory that comes and goes is not growth, memory that stays is", async (t) => {
  const sawtooth = Array.from({ length: 64 }, (_, at) => 40 + 10 * (at % 4));
  t.same(await reportOf(sawtooth), { early: 40, late: 40, resident: 210 });
  const leak = sawtooth.map((amount, at) => amount + 4 * at);
  const { early, late } = await reportOf(leak);
  t.ok(late - early > 64, `${early} → ${late}`);
});
