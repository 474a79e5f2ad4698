import t from "tap";
import { ServiceError } from "@coffer/errors";
import { testPostgres, until } from "@coffer/testkit";
import { prepareEach, QueryFailure } from "../src/index.ts";
import { createGrouped } from "../src/grouped.ts";
import { freshDatabase, latch } from "./support.ts";

const { url } = await testPostgres(t);

/** Divides 10 by each number but 7, for which it has no row; `together` is how many shared the run. */
const text = `select n::int, 10 / divisor as quotient, count(*) over ()::int as together
  from unnest($1::int[], $2::text[]) with ordinality as asked (divisor, note, n)
  where divisor <> 7 order by n desc`;

interface Quotient {
  quotient: number;
  together: number;
}

void t.test("calls of one turn share a run, and each has its own result", async (t) => {
  const { database } = await freshDatabase(t, url);
  const divide = database.preparedEach<Quotient>("divide-each", text);
  const answers = await Promise.all([1, 2, 7, 5].map((by) => divide([by, null])));
  t.same(
    answers.map((answer) => answer?.quotient ?? null),
    [10, 5, null, 2],
  );
  t.same(answers[0]?.together, 3);
  t.same(await divide([7, ""]), null);
  t.match(await divide([2, `{"a"},\\ 'b'`]), { quotient: 5, together: 1 });
});

void t.test("more than 64 go in several runs", async (t) => {
  const { database } = await freshDatabase(t, url);
  const divide = database.preparedEach<Quotient>("divide-each", text);
  const answers = await Promise.all(Array.from({ length: 65 }, () => divide([1, null])));
  t.same(
    [answers[0], answers[63], answers[64]].map((answer) => answer?.together),
    [64, 64, 1],
  );
});

void t.test("a call that Postgres refuses is refused alone", async (t) => {
  const { database } = await freshDatabase(t, url);
  const divide = database.preparedEach<Quotient>("divide-each", text);
  const code = (error: unknown) => (error instanceof QueryFailure ? error.code : error);
  const answers = await Promise.all(
    [
      [1, null],
      [0, null],
      [2, "\0"],
      [5, null],
    ].map((value) => divide(value).catch(code)),
  );
  t.match(answers, [{ quotient: 10 }, "22012", "22021", { quotient: 2 }]);
});

void t.test("an error other than a refusal by Postgres is not retried: the write may have been done", async (t) => {
  const failures = [new Error("Received unexpected commandComplete message from backend"), new TypeError("a row")];
  for (const failure of [...failures, new ServiceError("unavailable", "the connection is gone")]) {
    let runs = 0;
    const write = prepareEach<object>(() => {
      runs += 1;
      return Promise.reject(failure);
    }, 1);
    const answers = await Promise.allSettled([write([1]), write([2])]);
    t.match(answers, [{ reason: failure }, { reason: failure }]);
    t.equal(runs, 1);
  }
});

void t.test("a call behind a lock timeout is run", async (t) => {
  const held = latch();
  let runs = 0;
  const write = prepareEach<{ done: true }>(async () => {
    runs += 1;
    if (runs > 1) return [{ n: 1, done: true }];
    await held.opened;
    const cause = new QueryFailure("canceling statement due to lock timeout", { code: "55P03" });
    throw new ServiceError("unavailable", "the database does not answer; try again", { cause });
  }, 1);
  const first = write([1]);
  await new Promise(setImmediate);
  const second = write([2]);
  held.open();
  t.match(await Promise.allSettled([first, second]), [{ reason: { code: "unavailable" } }, { value: { done: true } }]);
});

void t.test("large calls share a batch with fewer others, very large ones run alone", async (t) => {
  const goes: number[] = [];
  const write = prepareEach<object>(([column]) => {
    goes.push(Array.isArray(column) ? column.length : 0);
    return Promise.resolve([]);
  }, 1);
  const half = "a".repeat(1024 * 1024);
  await Promise.all([half, half, "a", "a", half, `${half}${half}a`, "a"].map((value) => write([value, 1])));
  t.same(goes, [2, 3, 1, 1]);
});

void t.test("the wait and the queue are bounded", async (t) => {
  const held = latch();
  const goes: number[][] = [];
  const tooLate = new Error("too late");
  const call = createGrouped<number, number>({
    patience: { most: 2, milliseconds: 20, reason: () => tooLate },
    run: async (items) => {
      goes.push(items);
      await held.opened;
      return items;
    },
  });
  const first = call(1);
  await new Promise(setImmediate);
  const began = performance.now();
  const late = [call(2), call(3)];
  await t.rejects(call(4), tooLate);
  await until("they have waited for too long", () => performance.now() > began + 20);
  held.open();
  t.match(await Promise.allSettled([first, ...late]), [{ value: 1 }, { reason: tooLate }, { reason: tooLate }]);
  t.equal(await call(5), 5);
  t.same(goes, [[1], [5]]);
});

void t.test("concurrent batches are bounded; later items join the next batch", async (t) => {
  const held = [latch(), latch(), latch()];
  const goes: number[][] = [];
  const call = createGrouped<number, number>({
    atOnce: 2,
    run: async (items) => {
      await held[goes.push(items) - 1]?.opened;
      return items.map((item) => -item);
    },
  });
  const turn = () => new Promise(setImmediate);
  const first = call(1);
  await turn();
  const second = call(2);
  await turn();
  const others = [call(3), call(4)];
  await turn();
  t.same(goes, [[1], [2]]);
  held[1]?.open();
  t.equal(await second, -2);
  t.same(goes, [[1], [2], [3, 4]]);
  held[0]?.open();
  held[2]?.open();
  t.same(await Promise.all([first, ...others]), [-1, -3, -4]);
});

void t.test("an error that concerns all fails waiting items, and no later ones", async (t) => {
  const held = latch();
  const away = new Error("away");
  let goes = 0;
  const call = createGrouped<number, number>({
    concernsAll: (error) => error === away,
    run: async (items) => {
      goes += 1;
      if (goes > 1) return items;
      await held.opened;
      throw away;
    },
  });
  const first = call(1);
  await new Promise(setImmediate);
  const all = Promise.allSettled([first, call(2)]);
  held.open();
  t.match(await all, [{ reason: away }, { reason: away }]);
  t.equal(await call(3), 3);
});
