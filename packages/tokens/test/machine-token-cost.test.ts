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

/** CPU µs of this process for one call, independent of other load. */
async function cpuOf(calls: number, call: (index: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < calls; index += 1) await call(index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

void t.test("a client that does not exist takes about as long as a wrong signature", async (t) => {
  const verify = verifier();
  const refused = (name: string) => (): Promise<unknown> => verify(tokenOf(name)).catch(() => undefined);
  await cpuOf(200, refused("nobody's id")); // warms up
  await cpuOf(200, refused("another key"));
  let [unknown, wrong] = [0, 0];
  for (let round = 0; round < 10; round += 1) {
    unknown += (await cpuOf(40, refused("nobody's id"))) / 10;
    wrong += (await cpuOf(40, refused("another key"))) / 10;
  }
  t.comment(`unknown client ${unknown.toFixed(1)} µs, wrong signature ${wrong.toFixed(1)} µs of CPU`);
  // Without a verification against the unused key, the first would take a tenth of the second.
  t.ok(unknown > wrong * 0.6 && unknown < wrong * 1.7);
});

void t.test("a remembered token costs less than a tenth of what a new one costs", async (t) => {
  const verifiers = Array.from({ length: 200 }, verifier);
  const remembering = verifier();
  await cpuOf(10_000, () => remembering(good));
  const remembered = await cpuOf(50_000, () => remembering(good));
  const verified = await cpuOf(verifiers.length, (index) => verifiers[index]?.(good) ?? Promise.resolve());
  t.comment(`verified ${verified.toFixed(1)} µs, remembered ${remembered.toFixed(2)} µs of CPU`);
  t.ok(remembered < verified / 10);
});
