import t, { type Test } from "tap";
import { createRevocations, type Revocation } from "../src/index.ts";

const start = Date.parse("2026-11-20T10:00:00Z");
const lifetimeSeconds = 900;

/** Sources and a bus that can be taken away, with a clock that the test moves. */
function feeds(t: Test, { storeAway = false, second = { stored: [] as Revocation[], away: true } } = {}) {
  const state = { stored: [] as Revocation[], storeAway, busConnected: true, milliseconds: 0 };
  const reads: number[] = [];
  const revoked: string[] = [];
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
        if (second.away) return Promise.reject(new Error("the source is away"));
        return Promise.resolve(second.stored.filter(({ at }) => at >= since));
      },
    ],
    isBusConnected: () => state.busConnected,
    lifetimeSeconds,
    now: () => new Date(start + state.milliseconds),
    onRevoked: (sessionId) => revoked.push(sessionId),
    elapsed: () => state.milliseconds,
    pollMilliseconds: 1,
  });
  // The polling does not hold the process open, so the test does.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => {
    clearInterval(alive);
    revocations.close();
  });
  /** Resolves after a read that began after this call: the next one has begun. */
  const read = async (): Promise<void> => {
    for (let times = 0; times < 2; times += 1) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { state, reads, revoked, revocations, read };
}

void t.test("before the first read revocations are unknown, with and without the bus", async (t) => {
  const second = { stored: [], away: true };
  const { state, revocations, read } = feeds(t, { storeAway: true, second });
  t.throws(() => revocations.isRevoked("a"), { code: "unavailable", status: 503, retryAfterSeconds: 1 });
  await read();
  t.throws(() => revocations.isRevoked("a"), { code: "unavailable", status: 503, retryAfterSeconds: 1 });
  state.storeAway = false;
  await read();
  t.equal(revocations.isRevoked("a"), false);
});

void t.test("a process that starts without the store reads the second source", async (t) => {
  const second = { stored: [{ sessionId: "a", at: start - 600_000 }], away: false };
  const { revocations, read } = feeds(t, { storeAway: true, second });
  await read();
  t.equal(revocations.isRevoked("a"), true);
  t.equal(revocations.isRevoked("b"), false);
  second.stored.push({ sessionId: "b", at: start });
  await read();
  t.equal(revocations.isRevoked("b"), true, "and what is new");
});

void t.test("a store that lost its data answers with nothing: both sources are read", async (t) => {
  const second = { stored: [{ sessionId: "a", at: start - 600_000 }], away: true };
  const { state, revocations, read } = feeds(t, { second });
  await read();
  t.equal(revocations.isRevoked("a"), false, "the source that knows does not answer");
  second.away = false;
  state.milliseconds += 2000;
  await read();
  t.equal(revocations.isRevoked("a"), true, "and is read again two seconds later");
});

void t.test("missed events are read, or revocations are unknown", async (t) => {
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

void t.test("a connection that is lost and back between two checks counts as a loss", async (t) => {
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

void t.test("an event counts at once", async (t) => {
  const { revocations, read } = feeds(t);
  await read();
  revocations.add({ sessionId: "a", at: start });
  t.equal(revocations.isRevoked("a"), true);
});

void t.test("the store's revocations count at the next read, which requests only new ones", async (t) => {
  const { state, reads, revocations, read } = feeds(t);
  state.stored = [{ sessionId: "a", at: start }];
  await read();
  state.stored.push({ sessionId: "b", at: start - 60_000 });
  await read();
  t.equal(revocations.isRevoked("b"), true, "a writer whose clock is a minute late");
  t.equal(reads.at(-1), start - 60_000);
});

void t.test("a writer whose clock is ahead hides no revocation of others", async (t) => {
  const { state, reads, revocations, read } = feeds(t);
  state.stored = [{ sessionId: "ahead", at: start + 600_000 }];
  await read();
  t.equal(revocations.isRevoked("ahead"), true);
  state.stored.push({ sessionId: "late", at: start - 60_000 });
  await read();
  t.equal(revocations.isRevoked("late"), true);
  t.equal(reads.at(-1), start - 60_000);
});

void t.test("after this machine's clock was set back new revocations are still requested", async (t) => {
  const { state, revocations, read } = feeds(t);
  state.milliseconds = 20_000;
  state.stored = [{ sessionId: "a", at: start + 20_000 }];
  await read();
  state.milliseconds = -100_000;
  state.stored.push({ sessionId: "b", at: start - 100_000 });
  await read();
  t.equal(revocations.isRevoked("b"), true);
});

void t.test("without one source the other is used", async (t) => {
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
    `with both away for more than five seconds revocations are unknown, with the ${last} lost last`,
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

void t.test("a session that is known to have ended stays revoked without sources", async (t) => {
  const { state, revocations, read } = feeds(t);
  await read();
  revocations.add({ sessionId: "a", at: start });
  state.storeAway = true;
  state.busConnected = false;
  await read();
  state.milliseconds = 60_000;
  t.equal(revocations.isRevoked("a"), true);
});

void t.test("a wall clock that is set back or forward changes nothing", async (t) => {
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

void t.test(
  "after the store was away everything is read again, since revocations may have reached it late",
  async (t) => {
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
  },
);

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
  // Timers of one length run in the order in which they were set: a leftover one would run before these.
  for (let times = 0; times < 3; times += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  t.equal(reads.length, count);
});

void t.test("`onRevoked` is called once for each session, from any source", async (t) => {
  const { state, revoked, revocations, read } = feeds(t);
  revocations.add({ sessionId: "a", at: start });
  t.strictSame(revoked, ["a"]);
  state.stored.push({ sessionId: "a", at: start }, { sessionId: "b", at: start });
  await read();
  await read();
  revocations.add({ sessionId: "b", at: start + 1 });
  t.strictSame(revoked, ["a", "b"]);
});
