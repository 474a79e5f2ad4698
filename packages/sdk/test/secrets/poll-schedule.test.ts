import t from "tap";
import { planPoll, remainingIn } from "../../src/secrets/poll-schedule.ts";

const answered = (remaining?: number) => ({ kind: "answered", remaining }) as const;
const refused = { kind: "refused", retryAfterSeconds: 7 } as const;
const away = { kind: "away" } as const;

await t.test("with remaining it keeps the pace that is wished for, a tenth more or less", (t) => {
  t.same(planPoll(60, 60, answered(1), 0), { interval: 60, wait: 54 });
  t.same(planPoll(60, 60, answered(), 1), { interval: 60, wait: 66 });
  t.end();
});

await t.test("refused it slows down by half, up to a quarter of an hour, and comes back after Retry-After", (t) => {
  t.same(planPoll(60, 60, refused, 0), { interval: 90, wait: 7 });
  t.same(planPoll(60, 60, refused, 1), { interval: 90, wait: 97 });
  t.equal(planPoll(800, 60, refused, 0).interval, 900);
  t.equal(planPoll(3600, 3600, refused, 0).interval, 3600, "never faster than was wished for");
  t.end();
});

await t.test("who has had no answer yet slows down as well, but waits half a minute at most for its turn", (t) => {
  const first = { ...refused, first: true };
  t.same(planPoll(60, 60, first, 0), { interval: 90, wait: 7 });
  t.same(planPoll(600, 60, first, 1), { interval: 900, wait: 37 });
  t.same(planPoll(2, 2, first, 1), { interval: 3, wait: 10 });
  t.end();
});

await t.test("it speeds up by a fifth while half of the limit is left, and not while less is", (t) => {
  t.equal(planPoll(100, 60, answered(0.5), 0.5).interval, 80);
  t.equal(planPoll(100, 60, answered(0.49), 0.5).interval, 100);
  t.equal(planPoll(70, 60, answered(1), 0.5).interval, 60);
  t.end();
});

await t.test("while the service is away it slows down to five minutes", (t) => {
  t.equal(planPoll(60, 60, away, 0).interval, 90);
  t.equal(planPoll(250, 60, away, 0).interval, 300);
  t.end();
});

await t.test("the remaining is what the headers of the answer say", (t) => {
  const headers = { ratelimit: '"standard";r=15;t=12', "ratelimit-policy": '"standard";q=60;w=60' };
  t.equal(remainingIn(new Headers(headers)), 0.25);
  t.equal(remainingIn(new Headers()), undefined);
  t.equal(remainingIn(new Headers({ ...headers, "ratelimit-policy": '"standard";q=0;w=60' })), undefined);
  t.end();
});

await t.test("500 clients behind one address all get their turns within its limit", (t) => {
  const [limit, windowSeconds, clients, hours] = [60, 60, 500, 6];
  // The order in which they come is random; the same seed gives the same run.
  let seed = 1;
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const accepted: number[] = [];
  const polls = Array.from({ length: clients }, () => ({ at: random(), interval: 60, last: 0, longest: 0 }));
  let refusals = 0;
  let asked = 0;
  const end = hours * 3600;
  for (;;) {
    const poll = polls.reduce((first, one) => (one.at < first.at ? one : first));
    if (poll.at > end) break;
    asked += 1;
    while (accepted[0] !== undefined && accepted[0] <= poll.at - windowSeconds) accepted.shift();
    let outcome: Parameters<typeof planPoll>[2];
    if (accepted.length < limit) {
      accepted.push(poll.at);
      outcome = answered((limit - accepted.length) / limit);
      poll.longest = Math.max(poll.longest, poll.at - poll.last);
      poll.last = poll.at;
    } else {
      refusals += 1;
      outcome = { kind: "refused", retryAfterSeconds: Math.ceil((accepted[0] ?? 0) + windowSeconds - poll.at) };
    }
    const { interval, wait } = planPoll(poll.interval, 60, outcome, random());
    poll.interval = interval;
    poll.at += wait;
  }
  t.comment(`${refusals} of ${asked} refused; longest without an answer ${Math.max(...polls.map((p) => p.longest))} s`);
  t.ok(Math.max(...polls.map(({ longest }) => longest)) < 3600, "no machine waits an hour for a response");
  t.ok(refusals / asked < 0.35, "most questions are answered");
  t.end();
});

await t.test("one false Retry-After does not stop a poller, nor exceed what a timer can wait", (t) => {
  for (const retryAfterSeconds of [1_000_000, 999_999_999, Infinity]) {
    const { wait } = planPoll(60, 60, { kind: "refused", retryAfterSeconds }, 1);
    t.ok(wait <= 2 * 900, `${retryAfterSeconds}: ${wait}`);
  }
  t.end();
});
