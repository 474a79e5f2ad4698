import { ServiceError } from "@coffer/errors";
import t from "tap";
import { z } from "zod";
import { listOf, namedValues, nameText, route, uuidText } from "../src/index.ts";
import { openRaw } from "./raw.ts";
import { startApp } from "./start-app.ts";

const issues: number[] = [];
const counted = z.number().refine((value) => {
  issues.push(value);
  return false;
}, "is wrong");

const app = await startApp(t, [
  route({
    method: "POST",
    path: "/api/folders/:id",
    bucket: "user",
    caller: ({ authorization }) => ({ name: authorization ?? "", kind: "person" }),
    params: z.object({ id: uuidText }),
    body: z.object({ x: z.unknown() }),
    permit: (_deps, { caller, params }) => {
      if (caller.name === params.id) return Promise.resolve();
      return Promise.reject(new ServiceError("access_denied", "this folder is not yours"));
    },
    status: 200,
    run: () => Promise.resolve({ ran: true }),
  }),
  route({
    method: "POST",
    path: "/api/confirmed",
    bucket: "user",
    caller: () => ({
      caller: {},
      confirm: () => Promise.reject(new ServiceError("invalid_token", "this token is revoked")),
    }),
    lazy: true,
    body: z.object({}),
    status: 200,
    run: () => Promise.resolve({ ran: true }),
  }),
  route({
    method: "POST",
    path: "/api/lists",
    bucket: "user",
    caller: () => ({ caller: {} }),
    body: z.object({ numbers: listOf(counted, 1_000), names: namedValues(nameText(), counted, 64).optional() }),
    status: 200,
    run: () => Promise.resolve({}),
  }),
]);

const mine = "0199d6a0-0000-7000-8000-000000000001";
const head = (path: string, length: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${mine}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;

await t.test("a body over 64 KiB is read when its path has been authorized", async (t) => {
  const other = mine.replace(/1$/, "2");
  for (const length of ["Content-Length: 65537", "Transfer-Encoding: chunked"]) {
    const connection = await openRaw(t, app.port);
    connection.socket.write(head(`/api/folders/${other}`, length));
    t.match(await connection.until(/request_id/), /^HTTP\/1\.1 403 /, `${length}: without a byte of the body`);
    connection.socket.destroy();
  }
  const malformed = await openRaw(t, app.port);
  malformed.socket.write(head("/api/folders/none", "Content-Length: 65537"));
  t.match(await malformed.until(/request_id/), /^HTTP\/1\.1 404 /);
  malformed.socket.destroy();

  const gzip = await openRaw(t, app.port);
  gzip.socket.write(head(`/api/folders/${other}`, "Content-Encoding: gzip\r\nContent-Length: 3300"));
  t.match(await gzip.until(/request_id/), /^HTTP\/1\.1 403 /, "counted as inflated");
  gzip.socket.destroy();

  const send = (id: string, body: string) =>
    fetch(`${app.url}/api/folders/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: mine },
      body,
    });
  t.equal((await send(mine, JSON.stringify({ x: "x".repeat(70_000) }))).status, 200);
  t.equal((await send(other, JSON.stringify({ x: "x" }))).status, 200, "a small one is the operation's to refuse");
});

await t.test("a body over 64 KiB is not read for a caller who is revoked", async (t) => {
  const connection = await openRaw(t, app.port);
  connection.socket.write(head("/api/confirmed", "Content-Length: 65537"));
  t.match(await connection.until(/request_id/), /^HTTP\/1\.1 401 /);
  connection.socket.destroy();
});

const post = async (body: unknown): Promise<{ status: number; details: { field: string; issue: string }[] }> => {
  issues.length = 0;
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${app.url}/api/lists`, { method: "POST", headers, body: JSON.stringify(body) });
  const { details } = (await answer.json()) as { details: { field: string; issue: string }[] };
  return { status: answer.status, details };
};

await t.test("validation of a list stops after 20 issues", async (t) => {
  const { status, details } = await post({ numbers: Array.from({ length: 1_000 }, (_, index) => index) });
  t.equal(status, 400);
  t.equal(details.length, 20);
  t.strictSame(details[19], { field: "numbers.19", issue: "is wrong" });
  t.equal(issues.length, 20);
});

await t.test("a list or map that is too long is refused before its items are validated", async (t) => {
  const long = await post({ numbers: Array.from({ length: 1_001 }, () => 0) });
  t.equal(long.status, 400);
  t.strictSame(long.details, [{ field: "numbers", issue: "must have at most 1000 items" }]);
  t.equal(issues.length, 0);

  const names = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`n${index}`, index]));
  const wide = await post({ numbers: [], names });
  t.equal(wide.status, 400);
  t.strictSame(wide.details, [{ field: "names", issue: "must have at most 64 entries" }]);
  t.equal(issues.length, 0);

  const { details } = await post({});
  t.strictSame(details, [{ field: "numbers", issue: "Invalid input: expected array, received undefined" }]);
});
