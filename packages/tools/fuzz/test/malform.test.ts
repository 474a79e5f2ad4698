import { loadDescription } from "@coffer/openapi";
import { createRandom } from "@coffer/testkit";
import t from "tap";
import { jsonText } from "../src/json-text.ts";
import { createMalform } from "../src/malform.ts";
import { bodyMutations } from "../src/mutate-body.ts";
import { headerMutations } from "../src/mutate-headers.ts";
import { bytesOf, type RawRequest } from "../src/request.ts";
import { strangeKinds } from "../src/strange-values.ts";

const { operations } = loadDescription();
const caller = { url: "http://127.0.0.1:8080", authorization: "Bearer x" };

/** The bytes of the first requests to an operation. */
function made(operation: (typeof operations)[number], seed: string, count: number): string[] {
  const malform = createMalform(operation, seed);
  return Array.from({ length: count }, (_, index) => {
    const body: unknown = structuredClone(operation.body?.examples[0]);
    const right = { target: operation.path.replace(/[{}]/g, ""), headers: [], body };
    return bytesOf(malform(index).apply(right, caller)).toString("latin1");
  });
}

await t.test("a seed and a number always make the same request, another seed others", (t) => {
  const operation = operations.find(({ id }) => id === "createSecret");
  if (operation === undefined) throw new Error("the operation of this test is not described");
  t.same(made(operation, "a", 50), made(operation, "a", 50));
  t.notSame(made(operation, "a", 50), made(operation, "b", 50));
  t.end();
});

await t.test("500 requests to an operation are hardly ever the same", (t) => {
  for (const operation of operations) {
    const different = new Set(made(operation, "x", 500)).size;
    t.ok(different > 250, `${operation.id}: ${different}`);
  }
  t.end();
});

await t.test("every field of a body is omitted, and given another type, in turn", (t) => {
  for (const operation of operations) {
    const example = operation.body?.examples[0];
    if (typeof example !== "object" || example === null) continue;
    const malform = createMalform(operation, "x");
    const names = Array.from({ length: 6000 }, (_, index) => malform(2 * index).name);
    for (const field of Object.keys(example)) {
      t.ok(names.includes(`nothing at ${field}`), `${operation.id} without ${field}`);
      t.ok(names.includes(`null at ${field}`), `${operation.id} with null as ${field}`);
      t.ok(names.includes(`a lone high surrogate at ${field}`), `${operation.id} with a surrogate in ${field}`);
    }
  }
  t.end();
});

await t.test("nested strange values are not changed for later requests", (t) => {
  for (const { name, make } of strangeKinds) {
    const before = jsonText(make());
    const holder = make();
    if (typeof holder === "object" && holder !== null) Object.assign(holder, { type: make() });
    t.doesNotThrow(() => jsonText(holder), name);
    t.equal(jsonText(make()), before, name);
  }
  t.end();
});

// A server waits for an unfinished request, so the fuzzer would report it wrongly.
await t.test("a request in chunks has its end, with any other malformation", (t) => {
  const operation = operations.find(({ id }) => id === "createSecret");
  const chunks = bodyMutations.find(({ name }) => name === "chunks");
  if (operation === undefined || chunks === undefined) throw new Error("the operation or the chunks are missing");
  const random = createRandom("x");
  for (const other of [...bodyMutations, ...headerMutations])
    for (const both of [
      [chunks, other],
      [other, chunks],
    ]) {
      const request: RawRequest = { method: "POST", target: operation.path, headers: [], body: Buffer.from("{}") };
      for (const { apply } of both) apply(request, operation, random);
      const whole = request.breaksConnection === true || isWhole(bytesOf(request).toString("latin1"));
      t.ok(whole, both.map(({ name }) => name).join("; "));
    }
  t.end();
});

/** Whether a request has its announced length: by its length, or up to the end of its chunks. */
function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n") + 4;
  const head = text.slice(0, end);
  const body = text.slice(end);
  if (!/^transfer-encoding: chunked\r$/im.test(head))
    return body.length === Number(/^content-length: ([0-9]+)\r$/im.exec(head)?.[1] ?? 0);
  for (let at = 0; ;) {
    const line = /^([0-9a-f]+)\r\n/.exec(body.slice(at, at + 20));
    if (line === null) return false;
    const size = Number.parseInt(line[1] ?? "", 16);
    at += line[0].length + size + 2;
    if (size === 0) return at === body.length;
  }
}

await t.test("random choices are even", (t) => {
  const random = createRandom("x");
  const counts = Array.from({ length: 10 }, () => 0);
  for (let time = 0; time < 10_000; time += 1) {
    const one = random.below(10);
    counts[one] = (counts[one] ?? 0) + 1;
  }
  for (const count of counts) t.ok(count > 800 && count < 1200, String(count));
  t.same(createRandom("x").shuffled([1, 2, 3, 4, 5]).toSorted(), [1, 2, 3, 4, 5]);
  t.end();
});
