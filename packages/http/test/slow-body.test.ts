import { ServiceError } from "@coffer/errors";
import { sendSlowly, until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import type { Authenticate, RefusedCall } from "../src/index.ts";
import { bearerToken, route } from "../src/index.ts";
import { startApp } from "./start-app.ts";

// Between the head of a request and its body much may happen: its caller may be logged out.

interface Caller {
  name: string;
  /** How many callers had been identified when this one was. */
  number: number;
}

const revoked = new Set<string>();
let identified = 0;
const genuine: Authenticate<Caller> = ({ authorization }) => {
  const name = bearerToken(authorization);
  if (revoked.has(name)) throw new ServiceError("invalid_token", "the token is not valid");
  return { name, number: ++identified };
};
const ran: Caller[] = [];
const refused: RefusedCall<Caller>[] = [];
const things = { bucket: "user", caller: genuine, path: "/api/things", status: 200 } as const;
const run = (_deps: object, { caller }: { caller: Caller }): Promise<Caller> => {
  ran.push(caller);
  return Promise.resolve(caller);
};
const app = await startApp(
  t,
  [
    route({ ...things, method: "POST", body: z.object({ name: z.string() }), run }),
    route({ ...things, method: "PUT", body: "raw", run }),
  ],
  { onRefused: (_route, call) => Promise.resolve(refused.push(call)) },
);
const url = `${app.url}/api/things`;
const body = { name: "a thing" };

await t.test("whoever is revoked while the body is on its way is refused, and nothing is done", async (t) => {
  for (const method of ["POST", "PUT"]) {
    const token = `revoked-during-${method}`;
    const answer = await sendSlowly(url, { method, token, body }, () => Promise.resolve(revoked.add(token)));
    t.equal(answer.status, 401, method);
    t.match(answer.body, '"error":"invalid_token"');
    t.equal(refused.at(-1)?.caller, undefined, "who it is is not known any more");
  }
  t.strictSame(ran, []);
});

await t.test("whoever is not is served, as the one that was found out last", async (t) => {
  const answer = await sendSlowly(url, { method: "POST", token: "somebody", body }, () => Promise.resolve());
  t.strictSame([answer.status, JSON.parse(answer.body)], [200, { name: "somebody", number: identified }]);
});

await t.test("a body that comes at once costs no second look", async () => {
  await until("one was identified once", async () => {
    const before = identified;
    const headers = { authorization: "Bearer quick", "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return answer.status === 200 && identified === before + 1;
  });
});
