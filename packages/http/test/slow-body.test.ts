import { ServiceError } from "@coffer/errors";
import { sendSlowly, until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { type Authenticate, bearerToken, type RefusedCall, route } from "../src/index.ts";
import { startApp } from "./start-app.ts";

// The caller may be logged out between the head of a request and its body.

interface Caller {
  name: string;
  /** How many callers had been identified before this one. */
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

await t.test("a caller who is revoked during the body is refused, and the operation does not run", async (t) => {
  for (const method of ["POST", "PUT"]) {
    const token = `revoked-during-${method}`;
    const answer = await sendSlowly(url, { method, token, body }, () => Promise.resolve(revoked.add(token)));
    t.equal(answer.status, 401, method);
    t.match(answer.body, '"error":"invalid_token"');
    t.equal(refused.at(-1)?.caller, undefined, "the caller is unknown");
  }
  t.strictSame(ran, []);
});

await t.test("any other caller is served, as last identified", async (t) => {
  const answer = await sendSlowly(url, { method: "POST", token: "somebody", body }, () => Promise.resolve());
  t.strictSame([answer.status, JSON.parse(answer.body)], [200, { name: "somebody", number: identified }]);
});

await t.test("a fast body needs no second identification", async () => {
  await until("one was identified once", async () => {
    const before = identified;
    const headers = { authorization: "Bearer quick", "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return answer.status === 200 && identified === before + 1;
  });
});
