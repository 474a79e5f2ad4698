import t from "tap";
import type { Test } from "tap";
import { createRevocations } from "../src/index.ts";
import type { Revocation } from "../src/index.ts";

const start = Date.parse("2026-11-20T10:00:00Z");
const lifetimeSeconds = 900;

/** What can be read and the bus, which can be taken away, and a clock that stands until it is moved. */
function feeds(t: Test, { storeAway = false, second = { stored: [] as Revocation[], away: true } } = {}) {
  const state = { stored: [] as Revocation[], storeAway, busConnected: true, milliseconds: 0 };
  const reads: number[] = [];
  const told: string[] = [];
  let waiting: (() => void)[] = [];
  const revocations = createRevocations({
    sources: [
      (since) => {
        reads.push(since);
        for (const resume of waiting) resume();
        waiting = [];
        if (state.storeAway) return Promise.reject(new Error("the store is away"));
        return Promise.resolve(state.stored.filter(({ at }) => at >= since));
      },
      (since) => {
        if (second.away) return Promise.reject(new Error("nobody answers"));
        return Promise.resolve(second.stored.filter(({ at }) => at >= since));
      },
    ],
    isBusConnected: () => state.busConnected,
    lifetimeSeconds,
    now: () => new Date(start + state.milliseconds),
    onRevoked: (sessionId) => told.push(sessionId),
    elapsed: () => state.milliseconds,
    pollMilliseconds: 1,
  });
  // The reading keeps no process alive; a test has to wait for it.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => {
    clearInterval(alive);
    revocations.close();
  });
  /** Resolves when a read that began after this call has ended: the one after it has begun. */
  const read = async (): Promise<void> => {
    for (let times = 0; times < 2; times += 1) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { state, reads, told, revocations, read };
}

void t.test("until something was read nobody here can know, the bus being there or not", async (t) => {
  const second = { stored: [], away: true };
  const { state, revocations, read } = feeds(t, { storeAway: true, second });
  t.throws(() => revocations.isRevoked("a"), { code: "unavailable", status: 503, retryAfterSeconds: 1 });
  await read();
  t.throws(() => revocations.isRevoked("a"), { code: "unavailable", status: 503, retryAfterSeconds: 1 });
  state.storeAway = false;
  await read();
  t.equal(revocations.isRevoked("a"), false);
});

void t.test("what began while the store was away knows from the second source", async (t) => {
  const second = { stored: [{ sessionId: "a", at: start - 600_000 }], away: false };
  const { revocations, read } = feeds(t, { storeAway: true, second });
  await read();
  t.equal(revocations.isRevoked("a"), true);
  t.equal(revocations.isRevoked("b"), false);
  second.stored.push({ sessionId: "b", at: start });
  await read();
  t.equal(revocations.isRevoked("b"), true, "and what is new");
});

void t.test("a store that was lost and answers knows nothing: both are read", async (t) => {
  const second = { stored: [{ sessionId: "a", at: start - 600_000 }], away: true };
  const { state, revocations, read } = feeds(t, { second });
  await read();
  t.equal(revocations.isRevoked("a"), false, "who knows does not answer");
  second.away = false;
  state.milliseconds += 2000;
  await read();
  t.equal(revocations.isRevoked("a"), true, "and is asked again two seconds later");
});

void t.test("what the bus said while it was away is read, or nobody can know", async (t) => {
  const second: { stored: Revocation[]; away: boolean } = { stored: [], away: true };
  const { state, revocations, read } = feeds(t, { second });
  await read();
  state.storeAway = true;
  state.busConnected = false;
  await read();
  state.busConnected = true;
  await revocations.refresh();
  state.milliseconds += 5001;
  await read();
  t.throws(() => revocations.isRevoked("a"), { code: "unavailable" }, "the bus is back, and nothing can be read");
  second.away = false;
  second.stored = [{ sessionId: "a", at: start }];
  await read();
  t.equal(revocations.isRevoked("a"), true);
  t.equal(revocations.isRevoked("b"), false);
  second.away = true;
  state.milliseconds += 5001;
  await read();
  t.equal(revocations.isRevoked("b"), false, "from then on the bus alone is enough");
});

void t.test("a source that is back can be read at once", async (t) => {
  const { state, reads, revocations, read } = feeds(t, { storeAway: true });
  await read();
  state.storeAway = false;
  state.stored = [{ sessionId: "a", at: start - 600_000 }];
  await revocations.readAll();
  t.equal(revocations.isRevoked("a"), true);
  t.equal(reads.at(-1), start - lifetimeSeconds * 1000 - 60_000, "the whole window");
});

void t.test("a connection that is lost and back between two looks is no unbroken one", async (t) => {
  const { state, revocations, read } = feeds(t);
  await read();
  state.storeAway = true;
  await revocations.refresh();
  state.milliseconds += 5001;
  await read();
  t.throws(() => revocations.isRevoked("a"), { code: "unavailable" });
});

void t.test("a session that ended before this process began is known from the first read", async (t) => {
  const { state, reads, revocations, read } = feeds(t);
  state.stored = [{ sessionId: "a", at: start - lifetimeSeconds * 1000 }];
  await read();
  t.equal(revocations.isRevoked("a"), true);
  t.equal(revocations.isRevoked("b"), false);
  t.equal(reads[0], start - lifetimeSeconds * 1000 - 60_000, "one life of a token and the skew of clocks");
});

void t.test("what the bus says counts at once", async (t) => {
  const { revocations, read } = feeds(t);
  await read();
  revocations.add({ sessionId: "a", at: start });
  t.equal(revocations.isRevoked("a"), true);
});

void t.test("what the store holds counts at the next read, and only what is new is asked for", async (t) => {
  const { state, reads, revocations, read } = feeds(t);
  state.stored = [{ sessionId: "a", at: start }];
  await read();
  state.stored.push({ sessionId: "b", at: start - 60_000 });
  await read();
  t.equal(revocations.isRevoked("b"), true, "a writer whose clock is a minute late");
  t.equal(reads.at(-1), start - 60_000);
});

void t.test("one whose clock is ahead hides nothing that others revoke", async (t) => {
  const { state, reads, revocations, read } = feeds(t);
  state.stored = [{ sessionId: "ahead", at: start + 600_000 }];
  await read();
  t.equal(revocations.isRevoked("ahead"), true);
  state.stored.push({ sessionId: "late", at: start - 60_000 });
  await read();
  t.equal(revocations.isRevoked("late"), true);
  t.equal(reads.at(-1), start - 60_000);
});

void t.test("after this machine's clock was set back what is new is still asked for", async (t) => {
  const { state, revocations, read } = feeds(t);
  state.milliseconds = 20_000;
  state.stored = [{ sessionId: "a", at: start + 20_000 }];
  await read();
  state.milliseconds = -100_000;
  state.stored.push({ sessionId: "b", at: start - 100_000 });
  await read();
  t.equal(revocations.isRevoked("b"), true);
});

void t.test("with one feed away the other serves", async (t) => {
  const { state, revocations, read } = feeds(t);
  await read();
  state.storeAway = true;
  await read();
  state.milliseconds = 3_600_000;
  t.equal(revocations.isRevoked("a"), false, "the store is away, the bus is there");
  state.busConnected = false;
  state.storeAway = false;
  await read();
  t.equal(revocations.isRevoked("a"), false, "the bus is away, the store is there");
});

for (const last of ["store", "bus"] as const) {
  void t.test(
    `with both away for more than five seconds nobody can know, the ${last} being the last to go`,
    async (t) => {
      const { state, revocations, read } = feeds(t);
      state.busConnected = last === "bus";
      await read();
      state.storeAway = true;
      await read();
      t.equal(revocations.isRevoked("a"), false);
      state.busConnected = false;
      state.milliseconds += 5000;
      await read();
      t.equal(revocations.isRevoked("a"), false, "five seconds");
      state.milliseconds += 1;
      t.throws(() => revocations.isRevoked("a"), { code: "unavailable" });
      await read();
      t.throws(() => revocations.isRevoked("a"), { code: "unavailable" });

      state.storeAway = false;
      await read();
      t.equal(revocations.isRevoked("a"), false, "something can be read again");
    },
  );
}

void t.test("a session that is known to have ended stays so while nothing is heard", async (t) => {
  const { state, revocations, read } = feeds(t);
  await read();
  revocations.add({ sessionId: "a", at: start });
  state.storeAway = true;
  state.busConnected = false;
  await read();
  state.milliseconds = 60_000;
  t.equal(revocations.isRevoked("a"), true);
});

void t.test("a wall clock that is set back or forward changes nothing about who was heard", async (t) => {
  const now = { milliseconds: start };
  const revocations = createRevocations({
    sources: [() => Promise.resolve([])],
    isBusConnected: () => false,
    lifetimeSeconds,
    now: () => new Date(now.milliseconds),
    elapsed: () => 0,
    pollMilliseconds: 3_600_000,
  });
  t.teardown(() => revocations.close());
  await revocations.refresh();
  now.milliseconds += 86_400_000;
  t.equal(revocations.isRevoked("a"), false);
  now.milliseconds -= 2 * 86_400_000;
  t.equal(revocations.isRevoked("a"), false);
});

void t.test("after the store was away everything is read again, since news may have reached it late", async (t) => {
  const { state, reads, revocations, read } = feeds(t);
  state.stored = [{ sessionId: "new", at: start }];
  await read();
  state.storeAway = true;
  await read();
  state.stored.push({ sessionId: "late", at: start - 600_000 });
  state.storeAway = false;
  await read();
  await read();
  t.equal(revocations.isRevoked("late"), true);
  t.equal(reads.at(-1), start - 60_000, "and then only what is new");
});

void t.test("everything is read again every thirty seconds, and when the bus is back", async (t) => {
  const { state, reads, revocations, read } = feeds(t);
  const whole = (): number => start + state.milliseconds - lifetimeSeconds * 1000 - 60_000;
  state.stored = [{ sessionId: "a", at: start }];
  await read();
  const before = reads.length;
  await revocations.refresh();
  t.ok(reads.slice(before).includes(whole()));
  state.milliseconds = 30_000;
  const after = reads.length;
  await read();
  t.ok(reads.slice(after).includes(whole()));
});

void t.test("a session is forgotten when no token of it can live any longer", async (t) => {
  const { state, revocations, read } = feeds(t);
  await read();
  revocations.add({ sessionId: "a", at: start });
  state.milliseconds = lifetimeSeconds * 1000 + 60_000;
  await read();
  t.equal(revocations.isRevoked("a"), true);
  state.milliseconds += 1;
  await read();
  t.equal(revocations.isRevoked("a"), false);
});

void t.test("after close nothing is read", async (t) => {
  const { reads, revocations, read } = feeds(t);
  await read();
  revocations.close();
  await new Promise((resolve) => setImmediate(resolve));
  const count = reads.length;
  // Timers of one length run in the order in which they were set: one that is left would have run before these.
  for (let times = 0; times < 3; times += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  t.equal(reads.length, count);
});

void t.test("who wants to know is told of each session once, wherever it was heard of", async (t) => {
  const { state, told, revocations, read } = feeds(t);
  revocations.add({ sessionId: "a", at: start });
  t.strictSame(told, ["a"]);
  state.stored.push({ sessionId: "a", at: start }, { sessionId: "b", at: start });
  await read();
  await read();
  revocations.add({ sessionId: "b", at: start + 1 });
  t.strictSame(told, ["a", "b"]);
});
