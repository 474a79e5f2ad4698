import { once } from "node:events";
import { appendFileSync, readFileSync, statSync, truncateSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import t from "tap";
import { json } from "../../../sdk/test/server/server.ts";
import { outcomeOf, start } from "../command.ts";
import { type OrganizationServer, startOrganizationServer } from "../organization-server.ts";

// A resumed export reads the end of the file first. These records are longer than that part, and the
// exports end at any moment.

const count = 40;
/** A record of 20 to 320 KiB in one line, with the characters that a line must not break at. */
const record = (seq: number): object => ({
  seq,
  time: "2026-11-20T10:00:00.000000Z",
  action: "secret.read",
  outcome: "success",
  actor: { type: "user", id: "u" },
  source: { ip: "127.0.0.1", user_agent: `a "quoted"\r\n\u2028 agent ${"é".repeat(10_000 * (1 + (seq % 16)))}` },
});

/** Answers with one record a page; `pace` is called before each. */
async function startAudit(
  t: Parameters<typeof startOrganizationServer>[0],
  pace: (seq: number, answer: () => void) => void,
): Promise<OrganizationServer> {
  const server = await startOrganizationServer(t);
  const others = server.instead.http;
  server.instead.http = (request, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.path, server.url);
    if (pathname !== "/api/org/audit") return others?.(request, response) ?? false;
    const seq = Number(searchParams.get("cursor") ?? searchParams.get("after") ?? 0) + 1;
    const data = seq > count ? [] : [record(seq)];
    const next_cursor = seq >= count ? null : String(seq);
    pace(seq, () => json(response, 200, { data, head: { seq: count, hash: "0".repeat(64) }, next_cursor }));
    return true;
  };
  return server;
}

for (const format of ["jsonl", "csv"])
  await t.test(`a killed export of long lines in ${format} continues to the same file`, async (t) => {
    let waiting: (() => void) | undefined;
    let killAt = 0;
    const reached: ((seq: number) => void)[] = [];
    const server = await startAudit(t, (seq, answer) => {
      if (seq !== killAt) {
        answer();
        return;
      }
      waiting = answer;
      for (const tell of reached.splice(0)) tell(seq);
    });
    const [whole, file] = [join(server.home, "whole"), join(server.home, "file")];
    const args = ["audit", "export", "--format", format, "--out"];
    t.match(await server.run([...args, whole]), { code: 0, stderr: /exported 40 records/ });
    const expected = readFileSync(whole);

    for (const seq of [2, 9, 17, 31]) {
      killAt = seq;
      const atRecord = new Promise<number>((resolve) => reached.push(resolve));
      const child = start(server.home, [...args, file, ...(seq === 2 ? [] : ["--resume"])], {
        env: { COFFER_URL: server.url },
      });
      child.stdin?.end();
      const ended = outcomeOf(child);
      await atRecord;
      child.kill("SIGKILL");
      t.match(await ended, { signal: "SIGKILL" });
      waiting?.();
      const written = readFileSync(file);
      t.same(written, expected.subarray(0, written.length), `what is written before record ${seq} is a beginning`);
    }
    killAt = 0;
    t.match(await server.run([...args, file, "--resume"]), { code: 0 });
    t.ok(readFileSync(file).equals(expected), "and in the end it is the same");

    // Whatever part of a line a kill leaves.
    for (const cut of [1, 2, 65_535, 65_536, 65_537, 262_144, 400_000, statSync(whole).size - 1]) {
      truncateSync(file, expected.length - cut);
      t.match(await server.run([...args, file, "--resume"]), { code: 0 }, `${cut} bytes short`);
      t.ok(readFileSync(file).equals(expected), `${cut} bytes short`);
    }
    appendFileSync(file, format === "csv" ? '41,"cut' : '{"seq":41,"cut');
    t.match(await server.run([...args, file, "--resume"]), { code: 0, stderr: /exported 0 records/ });
    t.ok(readFileSync(file).equals(expected), "half a line is gone, also when nothing follows");
  });

await t.test("a reader that ends early ends an export to stdout", async (t) => {
  const server = await startAudit(t, (_seq, answer) => answer());
  const child = start(server.home, ["audit", "export"], { env: { COFFER_URL: server.url } });
  child.stdin?.end();
  await once(child.stdout as NonNullable<typeof child.stdout>, "data");
  child.stdout?.destroy();
  const [code] = (await once(child, "exit")) as [number | null];
  t.not(code, null, "it is not killed, and does not hang");
});
