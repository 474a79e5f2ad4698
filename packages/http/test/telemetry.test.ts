import { ServiceError } from "@coffer/errors";
import t from "tap";
import { z } from "zod";
import { anyone, route } from "../src/index.ts";
import { rows, uid } from "./rows.ts";
import { startApp } from "./start-app.ts";

/** Every label of the duration's count lines, in the order in which they appeared. */
async function counted(app: { metrics(): Promise<string> }): Promise<string[]> {
  const text = await app.metrics();
  return Array.from(
    text.matchAll(/^http_server_request_duration_seconds_count\{(.*)\} (\d+)$/gm),
    ([, labels, count]) => `${labels ?? ""} ${count ?? ""}`,
  );
}

await t.test("each request is counted by method, route and status, never by its content", async (t) => {
  const app = await startApp(t, rows);
  const authorization = "Bearer ann";
  const path = `/api/sm/v1/secrets/${uid}`;
  await fetch(app.url + path, { headers: { authorization } });
  await fetch(app.url + path, { headers: { authorization }, method: "HEAD" });
  await fetch(app.url + path);
  await fetch(`${app.url}/api/sm/v1/secrets/x`, { headers: { authorization } });
  await fetch(`${app.url}/api/nothing/${uid}`);
  await fetch(`${app.url}/api/things`, { method: "PROPFIND" });
  t.strictSame(await counted(app), [
    'service="test",http_request_method="GET",http_route="/api/sm/v1/secrets/{uid}",http_response_status_code="200" 1',
    'service="test",http_request_method="HEAD",http_route="/api/sm/v1/secrets/{uid}",http_response_status_code="200" 1',
    'service="test",http_request_method="GET",http_route="/api/sm/v1/secrets/{uid}",http_response_status_code="401" 1',
    'service="test",http_request_method="GET",http_route="/api/sm/v1/secrets/{uid}",http_response_status_code="404" 1',
    'service="test",http_request_method="GET",http_route="unmatched",http_response_status_code="404" 1',
    'service="test",http_request_method="_OTHER",http_route="unmatched",http_response_status_code="404" 1',
  ]);
  t.notMatch(await app.metrics(), uid);
});

await t.test("nothing that a caller sends reaches the log", async (t) => {
  const canary = "canary0123456789";
  const app = await startApp(t, [
    ...rows,
    route({
      ...({ method: "POST", path: "/api/fails/:id", bucket: "user", caller: anyone, status: 200 } as const),
      ...{ params: z.object({ id: z.string() }), query: z.looseObject({}), body: z.looseObject({}) },
      run: () => Promise.reject(new Error("a bug")),
    }),
    route({
      ...({ method: "POST", path: "/api/away/:id", bucket: "user", caller: anyone, status: 200 } as const),
      ...{ params: z.object({ id: z.string() }), body: z.looseObject({}) },
      run: () => Promise.reject(new ServiceError("unavailable", "away")),
    }),
  ]);
  const headers = {
    authorization: `Bearer ${canary}`,
    cookie: canary,
    "content-type": "application/json",
    "user-agent": canary,
    referer: canary,
  };
  const body = JSON.stringify({ name: canary, token: canary, [canary]: canary });
  for (const path of ["/api/things", `/api/fails/${canary}?token=${canary}`, `/api/away/${canary}`, `/api/${canary}`])
    for (const sent of [body, `{${canary}`]) await fetch(app.url + path, { method: "POST", headers, body: sent });
  for (const path of [`/api/things/${canary}/parts/%00`, `/api/sm/v1/secrets/search?title=${canary}&title=${canary}`])
    await fetch(app.url + path, { headers });
  t.match(app.logged(), /a request failed/);
  t.match(app.logged(), /a request could not be served/);
  t.match(app.logged(), /"msg":"request"/, "at debug, each request has a line");
  t.notMatch(app.logged(), canary);
  t.notMatch(await app.metrics(), canary);
});
