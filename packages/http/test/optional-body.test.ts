import t from "tap";
import { z } from "zod";
import { anyone, route } from "../src/index.ts";
import { echo } from "./rows.ts";
import { startApp } from "./start-app.ts";

const row = { path: "/api/things", bucket: "user", caller: anyone, status: 200, run: echo } as const;
const body = z.object({ name: z.string().optional() });
const app = await startApp(t, [
  route({ ...row, method: "DELETE", body, bodyOptional: true }),
  route({ ...row, method: "POST", body }),
]);
const json = { "content-type": "application/json" };
const send = (method: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${app.url}/api/things`, { method, ...init });

await t.test("where a body is optional, a request without one is one without fields", async (t) => {
  for (const init of [{}, { headers: json }, { body: "" }]) {
    const answer = await send("DELETE", init);
    t.equal(answer.status, 200);
    t.match(await answer.json(), { body: {} });
  }
});

await t.test("a body that is there is read and checked", async (t) => {
  const read = await send("DELETE", { headers: json, body: '{"name":"a"}' });
  t.match(await read.json(), { body: { name: "a" } });
  for (const wrong of ['{"name":7}', "{", "null"]) {
    t.equal((await send("DELETE", { headers: json, body: wrong })).status, 400, wrong);
  }
  t.equal((await send("DELETE", { headers: { "content-type": "text/plain" }, body: "{}" })).status, 400);
});

await t.test("elsewhere a body is required", async (t) => {
  t.equal((await send("POST")).status, 400);
});
