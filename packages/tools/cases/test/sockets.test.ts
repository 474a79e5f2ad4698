import { once } from "node:events";
import type { AddressInfo } from "node:net";
import t from "tap";
import { until } from "@coffer/testkit";
import { type WebSocket, WebSocketServer } from "ws";
import { caseFile } from "../src/case-file.ts";
import { connect } from "../src/connection.ts";
import { runSteps } from "../src/run-case.ts";

interface Opening {
  path: string | undefined;
  protocols: string | undefined;
  address: unknown;
}

interface Behaviour {
  /** The server's behaviour for a connection; by default it echoes. */
  serve?: (socket: WebSocket) => void;
  /** Refuses an upgrade with this status. */
  refuse?: (opening: Opening) => number | undefined;
  selects?: string;
  forwarded?: boolean;
}

const echo = (socket: WebSocket): void => {
  socket.on("message", (data: Buffer, isBinary) => socket.send(isBinary ? '"binary"' : data.toString("utf8")));
};

/** Runs a case's steps against a server with this behaviour; closes the case's connections. */
async function run(steps: unknown[], { serve = echo, refuse, selects, forwarded = false }: Behaviour = {}) {
  const openings: Opening[] = [];
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    handleProtocols: () => selects ?? false,
    verifyClient: ({ req }, answer) => {
      const { "sec-websocket-protocol": protocols, "x-forwarded-for": address } = req.headers;
      const opening = { path: req.url, protocols, address };
      openings.push(opening);
      const status = refuse?.(opening);
      if (status === undefined) answer(true);
      else answer(false, status, '{"error":"refused"}', { "retry-after": "1", "x-one": "1" });
    },
  });
  server.on("connection", serve);
  await once(server, "listening");
  const waits: number[] = [];
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  const connection = connect({ url: `http://127.0.0.1:${port}`, forwarded, onWait: (seconds) => waits.push(seconds) });
  const people = { owner: { accessToken: () => Promise.resolve("person") } };
  const scope = { phone: { accessToken: () => Promise.resolve("own") }, name: "Ann" };
  const parsed = caseFile.parse({ proves: ["6.1"], says: "It is so.", steps });
  try {
    await runSteps({ connection, people, audience: connection.url }, scope, parsed.steps);
  } finally {
    await until("nothing is left open", () => server.clients.size === 0);
    server.close();
  }
  return { openings, waits };
}

const open = { open: "device" };
const failure = (message: RegExp) => ({ name: "CaseFailure", message });

await t.test("open sends the caller's token: in the query, or as the step says", async (t) => {
  const { openings } = await run(
    [
      open,
      { ...open, as: "owner" },
      { ...open, as: "phone", query: "?a=${name}&token=${access_token}" },
      { ...open, as: "owner", protocols: ["one", "bearer.${access_token}"], expect: { protocol: "one" } },
    ],
    { selects: "one" },
  );
  const path = "/api/sync/ws";
  t.match(openings, [
    { path, protocols: undefined, address: undefined },
    { path: `${path}?token=person` },
    { path: `${path}?a=Ann&token=own` },
    { path, protocols: "one,bearer.person" },
  ]);
});

await t.test("with forwarded a connection comes from the address of the case, or from another by name", async (t) => {
  const { openings } = await run([open, { open: "two" }, { open: "three", from: "another" }], { forwarded: true });
  const [first, second, third] = openings.map(({ address }) => address);
  t.match(first, /^198\.1[89]\./);
  t.equal(second, first);
  t.not(third, first);
});

await t.test("open fails when the answer or the protocol is another", async (t) => {
  const refuse = () => 401;
  const refused = { status: 401, headers: { "x-one": "1" }, body: { error: "refused" } };
  await run([{ ...open, expect: refused }], { refuse });
  await t.rejects(run([open], { refuse }), failure(/^step 1: .*answered 401, expected 101/));
  await t.rejects(run([{ ...open, expect: { status: 401 } }]), failure(/answered 101, expected 401/));
  await t.rejects(
    run([{ ...open, expect: { ...refused, body: { error: "other" } } }], { refuse }),
    failure(/the body/),
  );
  await t.rejects(run([{ ...open, expect: { ...refused, headers: { "x-one": "2" } } }], { refuse }), failure(/x-one/));
  const protocols = { ...open, protocols: ["one", "two"], expect: { protocol: "two" } };
  await t.rejects(run([protocols], { selects: "one" }), failure(/the protocol that was selected is "one"/));
  await t.rejects(run([protocols]), failure(/no WebSocket was opened/));
});

await t.test("at 429 open waits for Retry-After", async (t) => {
  let refusals = 2;
  const refuse = () => (refusals-- > 0 ? 429 : undefined);
  t.same((await run([open], { refuse })).waits, [1, 1]);
});

await t.test(
  "say sends JSON, a text as it is, or a binary message; hear takes the next and saves parts of it",
  async () => {
    await run([
      open,
      { say: "device", message: { a: "${name}" } },
      { say: "device", message: "not JSON" },
      { say: "device", message: { a: 1 }, binary: true },
      { hear: "device", message: { a: "Ann" }, save: { heard: "message.a" } },
      { hear: "device", message: "not JSON" },
      { hear: "device", message: "binary" },
      { say: "device", message: { b: "${heard}" } },
      { hear: "device", message: { b: "Ann" } },
    ]);
  },
);

await t.test("hear fails when the next message is another, and when none comes or it is closed", async (t) => {
  const said = { say: "device", message: { a: 1 } };
  await t.rejects(
    run([open, said, { hear: "device", message: { a: 2 } }]),
    failure(/^step 3: what device heard\.a is 1, expected 2/),
  );
  await t.rejects(run([open, { hear: "device", message: {}, within: 0.1 }]), failure(/heard nothing within 0.1 s$/));
  const hears = { hear: "device", message: {} };
  await t.rejects(run([open, hears], { serve: (socket) => socket.close(4001, "gone") }), failure(/4001 \(gone\)/));
});

await t.test("hear skips messages that do not match `which`, and never goes back", async (t) => {
  const steps = [open, ...[1, 2, 3].map((a) => ({ say: "device", message: { a } }))];
  const heard = (a: number) => ({ hear: "device", which: { a }, message: { a } });
  await run([...steps, heard(1), heard(3)]);
  await t.rejects(
    run([...steps, heard(2), { ...heard(1), within: 1 }]),
    failure(/heard nothing like \{"a":1\} within 1 s, but \[\{"a":3\}\]/),
  );
});

await t.test("stays fails when it is closed meanwhile", async (t) => {
  await run([open, { stays: "device", for: 0.1 }]);
  const serve = (socket: WebSocket): void => socket.close(1001);
  await t.rejects(run([open, { stays: "device", for: 10 }], { serve }), failure(/closed with 1001, expected to stay/));
});

await t.test("closed fails when it stays open, and for another code or a message that must not come", async (t) => {
  const serve = (socket: WebSocket): void => {
    socket.send('{"a":1}');
    socket.close(4001);
  };
  const closed = (code: number, more: object = {}) => ({ closed: "device", code, ...more });
  await run([open, closed(4001)], { serve });
  await run([open, closed(4001, { without: { a: 2 } })], { serve });
  await run([open, { hear: "device", message: { a: 1 } }, closed(4001, { without: {} })], { serve });
  await t.rejects(run([open, closed(1008)], { serve }), failure(/closed with 4001, expected 1008/));
  await t.rejects(run([open, closed(4001, { without: {} })], { serve }), failure(/before .* device heard \{"a":1\}/));
  await t.rejects(run([open, closed(4001, { within: 0.1 })]), failure(/not closed within 0.1 s/));
  await run([open, closed(1006)], { serve: (socket) => socket.terminate() });
});

await t.test("pinged waits for a ping, which is answered unless the step says otherwise", async (t) => {
  let pongs = 0;
  const serve = (socket: WebSocket): void => {
    echo(socket);
    socket.on("message", () => socket.ping());
    socket.on("pong", () => {
      pongs += 1;
      socket.close(4002);
    });
  };
  const asks = [
    { say: "device", message: {} },
    { pinged: "device", within: 10 },
  ];
  await run([open, ...asks, { closed: "device", code: 4002 }], { serve });
  t.equal(pongs, 1);
  await run([{ ...open, pongs: false }, ...asks, { stays: "device", for: 0.1 }], { serve });
  t.equal(pongs, 1);
  const early = (socket: WebSocket): void => {
    socket.ping();
    socket.send("{}");
  };
  const heard = { hear: "device", message: {} };
  await run([open, heard, { pinged: "device", within: 0.1 }], { serve: early });
  const twice = [heard, { pinged: "device", within: 0.1 }, { pinged: "device", within: 0.1 }];
  await t.rejects(run([open, ...twice], { serve: early }), failure(/^step 4: .*not pinged/));
  await t.rejects(run([open, { pinged: "device", within: 0.1 }]), failure(/not pinged within 0.1 s/));
  const gone = (socket: WebSocket): void => socket.close(1001);
  await t.rejects(run([open, { pinged: "device", within: 10 }], { serve: gone }), failure(/closed with 1001/));
});

await t.test("close is a client’s, with 1000", async (t) => {
  const codes: number[] = [];
  await run([open, { close: "device" }, { closed: "device", code: 1000 }], {
    serve: (socket) => socket.on("close", (code) => codes.push(code)),
  });
  t.same(codes, [1000]);
  const serve = (socket: WebSocket): void => socket.terminate();
  await t.rejects(
    run([open, { closed: "device", code: 1006 }, { close: "device" }], { serve }),
    failure(/not answered/),
  );
});

await t.test("until repeats several steps until all of them hold", async (t) => {
  let said = 0;
  const serve = (socket: WebSocket): void => {
    socket.on("message", () => socket.send(JSON.stringify({ said: (said += 1) })));
  };
  const asks = [
    { say: "device", message: {} },
    { hear: "device", message: { said: 3 } },
  ];
  await run([open, { until: asks, within: 10 }], { serve });
  t.equal(said, 3);
  await t.rejects(run([open, { until: asks, within: 0.2 }]), failure(/^step 2: step 2: /));
});

await t.test("a connection that the case has not opened is a mistake of the case", async (t) => {
  for (const step of [
    { say: "device", message: {} },
    { hear: "device", message: {} },
    { closed: "device", code: 1000 },
    { stays: "device", for: 1 },
    { pinged: "device", within: 1 },
    { close: "device" },
  ])
    await t.rejects(run([step]), { name: "TypeError", message: /has not opened device/ });
});
