import t from "tap";
import { verifyMachineToken } from "../src/index.ts";
import { machineTokens } from "./vectors.ts";

const { now, audiences, client_id: clientId, public_key: publicKey, vectors } = await machineTokens();
const tokenOf = (name: string): string => vectors.find((vector) => vector.name === name)?.token ?? "";
const good = tokenOf("a token of five minutes");

function verifier(): (token: string) => Promise<unknown> {
  const findKey = (id: string): Promise<string | null> => Promise.resolve(id === clientId ? publicKey : null);
  return verifyMachineToken({ audiences, now: () => new Date(now * 1000), findKey });
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}

/** Median µs of each attempt, taken turn by turn so that a busy machine slows all of them. */
async function compare(rounds: number, attempts: (() => Promise<unknown>)[]): Promise<number[]> {
  const times = attempts.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, attempt] of attempts.entries()) {
      const start = performance.now();
      await attempt().catch(() => undefined);
      times[index]?.push((performance.now() - start) * 1000);
    }
  }
  return times.map(median);
}

void t.test("a client that does not exist takes about as long as a wrong signature", async (t) => {
  const verify = verifier();
  const [unknown = 0, wrong = 0] = await compare(400, [
    () => verify(tokenOf("nobody's id")),
    () => verify(tokenOf("another key")),
  ]);
  t.comment(`unknown client ${unknown.toFixed(1)} µs, wrong signature ${wrong.toFixed(1)} µs`);
  // Without the work on the key of nobody the first would take a tenth of the second.
  t.ok(unknown > wrong * 0.6 && unknown < wrong * 1.7);
});

/** CPU µs that this process spends on one call, which a busy machine does not change. */
async function cpuOf(calls: number, call: (index: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < calls; index += 1) await call(index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

void t.test("a remembered token costs at most 5 µs, a small part of what a new one costs", async (t) => {
  const verifiers = Array.from({ length: 200 }, verifier);
  const remembering = verifier();
  await cpuOf(10_000, () => remembering(good));
  const remembered = await cpuOf(50_000, () => remembering(good));
  const verified = await cpuOf(verifiers.length, (index) => verifiers[index]?.(good) ?? Promise.resolve());
  t.comment(`verified ${verified.toFixed(1)} µs, remembered ${remembered.toFixed(2)} µs of CPU`);
  t.ok(remembered <= 5 && remembered < verified / 10);
});
