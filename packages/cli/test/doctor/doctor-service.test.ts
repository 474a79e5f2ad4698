import t from "tap";
import { asCoffer, doctor, limit, startStranger } from "./doctor.ts";

const home = t.testdir({});
const at = (url: string) => doctor(home, ["--url", url]);
const refusedUpgrade = (status: string) => (socket: NodeJS.WritableStream) => {
  socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
};

await t.test("a service that is as it should be has no problem: exit 0", async (t) => {
  const { of, code } = await at(await startStranger(t, asCoffer(), refusedUpgrade("401 Unauthorized")));
  t.equal(code, 0);
  for (const check of ["address", "base address", "clock", "limits", "forwarded address", "live sync"])
    t.match(of(check), [{ status: "ok", advice: null }], check);
  t.match(of("session"), [{ status: "warn", message: /no one is logged in/, advice: /coffer login/ }]);
});

await t.test("an address without a Coffer is a problem: exit 1, and no further request", async (t) => {
  const html = await startStranger(t, () => [200, "<h1>hello</h1>"]);
  const moved = await startStranger(t, () => [308, "", { location: "https://coffer.example.com/" }]);
  const endless = await startStranger(t, () => [200, "x".repeat(9 * 1024 * 1024)]);
  const away = await startStranger(t, () => [503, { error: "unavailable" }]);
  const full = await startStranger(t, () => [429, { error: "rate_limited" }, { "retry-after": "17" }]);
  for (const [url, message, advice] of [
    ["http://127.0.0.1:2", /cannot be reached: .*ECONNREFUSED/, /nothing listens there/],
    ["https://no-such-host.invalid", /cannot be reached/, /DNS/],
    ["http://no-such-host.invalid", /plain http:\/\/ to another machine/, /--url/],
    [html.replace("http:", "https:"), /cannot be reached/, /./],
    [html, /not as a Coffer/, /another program/],
    [moved, /sends elsewhere: https:\/\/coffer\.example\.com/, /use that address/],
    [endless, /the answer has more than 8 MiB/, /./],
    [away, /answers 503/, /--management/],
    [full, /takes no more requests/, /in 17 s/],
  ] as const) {
    const { of, all, code } = await at(url);
    t.equal(code, 1, url);
    t.match(of("address"), [{ status: "problem", message, advice }], url);
    t.equal(all.length, 1);
  }
});

await t.test("an address that the service does not know as its own is a problem", async (t) => {
  const url = await startStranger(
    t,
    asCoffer(() => ({ body: { base_urls: ["https://vault.example"] } })),
  );
  const { of, code } = await at(url);
  t.equal(code, 1);
  t.match(of("base address"), [{ status: "problem", message: /https:\/\/vault\.example/, advice: /COFFER_BASE_URL/ }]);
  const older = await startStranger(
    t,
    asCoffer(() => ({ body: { base_urls: undefined } })),
  );
  t.match((await at(older)).of("base address"), [{ status: "warn", advice: /upgrade/ }]);
});

await t.test("a clock that is more than 60 s away is a problem, in either direction", async (t) => {
  for (const [seconds, status, word] of [
    [10, "ok", "10 s|11 s|9 s"],
    [-40, "warn", "ahead of"],
    [-63, "problem", "ahead of"],
    [64, "problem", "behind"],
  ] as const) {
    const date = (): string => new Date(Date.now() + seconds * 1000).toUTCString();
    const url = await startStranger(
      t,
      asCoffer(() => ({ headers: { date: date() } })),
    );
    const { of, code } = await at(url);
    t.match(of("clock"), [{ status, message: new RegExp(word) }], `${seconds} s`);
    t.equal(code, status === "problem" ? 1 : 0);
  }
});

await t.test("limits that are not shown, or used up, are worth a look", async (t) => {
  const bare = asCoffer();
  const hidden = await startStranger(t, (request, url) => bare(request, url)?.slice(0, 2) as [number, unknown]);
  t.match((await at(hidden)).of("limits"), [{ status: "warn", advice: /RateLimit/ }]);
  const low = await startStranger(
    t,
    asCoffer(() => ({ headers: limit(29) })),
  );
  t.match((await at(low)).of("limits"), [{ status: "warn", message: /29 of 300/ }]);
  const enough = await startStranger(
    t,
    asCoffer(() => ({ headers: limit(30) })),
  );
  t.match((await at(enough)).of("limits"), [{ status: "ok" }]);
});

await t.test("a service that believes what a caller says of its address is found out", async (t) => {
  const answer = asCoffer();
  const url = await startStranger(t, (request, own) => {
    const reply = answer(request, own);
    const claimed = request.headers["x-forwarded-for"] !== undefined;
    return reply === undefined || !claimed ? reply : [reply[0], reply[1], limit(299)];
  });
  t.match((await at(url)).of("forwarded address"), [{ status: "warn", advice: /COFFER_TRUSTED_PROXY_CIDRS/ }]);
});

await t.test("also in the first minute of Redis, in which each replica allows its share alone", async (t) => {
  const answer = asCoffer();
  const statusWith = async (leftOf: (turn: number) => number): Promise<unknown> => {
    let turn = 0;
    const url = await startStranger(t, (request, own) => {
      const reply = answer(request, own);
      const claimed = request.headers["x-forwarded-for"] !== undefined;
      return reply === undefined || !claimed ? reply : [reply[0], reply[1], limit(leftOf((turn += 1)))];
    });
    return (await at(url)).of("forwarded address");
  };
  t.match(await statusWith(() => 149), [{ status: "warn", message: /believes/ }], "each claim counts for itself");
  t.match(await statusWith((turn) => 149 - Math.floor(turn / 2)), [{ status: "ok" }], "two replicas in turn");
  t.match(await statusWith(() => 0), [{ status: "warn", message: /not tried/ }]);
});

await t.test("the answer to an upgrade shows what is between a WebSocket and its service", async (t) => {
  for (const [answer, status, advice] of [
    ["404 Not Found", "warn", /Upgrade and Connection/],
    ["426 Upgrade Required", "problem", /Upgrade and Connection/],
    ["101 Switching Protocols", "problem", /Upgrade and Connection/],
    ["502 Bad Gateway", "problem", /service sync is away/],
    ["429 Too Many Requests", "warn", /in a minute/],
  ] as const) {
    const { of, code } = await at(await startStranger(t, asCoffer(), refusedUpgrade(answer)));
    t.match(of("live sync"), [{ status, advice }], answer);
    t.equal(code, status === "problem" ? 1 : 0, answer);
  }
  const dropped = await startStranger(t, asCoffer(), (socket) => socket.destroy());
  t.match((await at(dropped)).of("live sync"), [{ status: "problem", message: /cannot be reached/ }]);
});

await t.test("without an address that is the problem, and what can be found without one is found", async (t) => {
  const { of, code } = await doctor(home, []);
  t.equal(code, 1);
  t.match(of("address"), [{ status: "problem", message: /no address/ }]);
});
