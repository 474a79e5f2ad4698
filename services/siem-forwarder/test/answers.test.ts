import t from "tap";
import type { FormatTarget, Outcome } from "../src/formats/format.ts";
import { formatterOf } from "../src/formats/formats.ts";
import type { Answer, Channel } from "../src/outgoing/channel.ts";

// What each format makes of each answer, by the tables of docs/siem.md and of the vendors.

const target = {
  url: "https://siem.example/coffer-audit/_bulk",
  credentials: {
    token: "t",
    api_key: "k",
    tenant_id: "t",
    client_id: "c",
    client_secret: "s",
    dcr_id: "d",
    stream: "s",
  },
  hostName: "coffer.test",
  now: () => new Date("2026-11-26T12:00:00Z"),
} as unknown as FormatTarget<never>; // the credentials of each format

/** A channel whose receiver gives this answer to records; a login service gives a token. */
function channelWith(given: Partial<Answer> & { status: number }): Channel {
  const answer = { headers: {}, body: "", isCut: false };
  return {
    post: ({ url }: { url: string }) =>
      Promise.resolve(
        url.startsWith("https://login.")
          ? { ...answer, status: 200, body: JSON.stringify({ access_token: "token", expires_in: 3_600 }) }
          : { ...answer, ...given },
      ),
  } as unknown as Channel; // no format uses more of it
}

type Format = "hec" | "log_analytics" | "logs_intake" | "ecs";

function outcomeOf(format: Format, given: Partial<Answer> & { status: number }): Promise<Outcome> {
  return formatterOf(format).send(channelWith(given), target, Buffer.from("{}"), 2);
}

const success: Record<Format, Partial<Answer> & { status: number }> = {
  hec: { status: 200, body: '{"text":"Success","code":0}' },
  log_analytics: { status: 204 },
  logs_intake: { status: 202 },
  ecs: { status: 200, body: '{"took":1,"errors":false,"items":[]}' },
};
const refused = new Set([400, 413]);

for (const format of Object.keys(success) as Format[])
  await t.test(`${format}: its own success alone is a success; 400 and 413 are about the content`, async (t) => {
    t.match(await outcomeOf(format, success[format]), { kind: "taken", rejected: [], status: success[format].status });
    for (const status of [200, 201, 202, 204, 301, 307, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 599]) {
      if (status === success[format].status && format !== "hec" && format !== "ecs") continue;
      const outcome = await outcomeOf(format, { status, headers: { "retry-after": "120" } });
      if (refused.has(status)) t.match(outcome, { kind: "refused", status }, `${status}`);
      else t.match(outcome, { kind: "failed", status, retryAfterSeconds: 120 }, `${status}`);
    }
  });

await t.test("hec: each code of the collector", async (t) => {
  const about: Record<Outcome["kind"], number[]> = {
    taken: [0],
    failed: [1, 2, 3, 4, 7, 8, 9, 10, 11, 18, 19, 20],
    refused: [5, 6, 12, 13, 14, 15, 16, 17, 21, 22],
  };
  for (const [kind, codes] of Object.entries(about))
    for (const code of codes) {
      const body = JSON.stringify({ text: "a text", code });
      t.equal((await outcomeOf("hec", { status: code === 0 ? 200 : 400, body })).kind, kind, `400 with code ${code}`);
      if (code !== 0) t.not((await outcomeOf("hec", { status: 200, body })).kind, "taken", `200 with code ${code}`);
    }
  for (const code of ["0", 0.5, null, undefined, [0], -0.1])
    t.equal((await outcomeOf("hec", { status: 200, body: JSON.stringify({ code }) })).kind, "failed", String(code));
});

await t.test("Retry-After is read as seconds and as a date, up to an hour", async (t) => {
  const cases: [text: string, seconds: number | undefined][] = [
    ["0", 0],
    ["90", 90],
    ["3600", 3_600],
    ["3601", 3_600],
    ["999999999", 3_600],
    ["99999999999999999999", 3_600],
    ["Thu, 26 Nov 2026 12:02:00 GMT", 120],
    ["Thu, 26 Nov 2026 18:00:00 GMT", 3_600],
    ["Thu, 26 Nov 2026 11:00:00 GMT", undefined],
    ["-1", undefined],
    ["soon", undefined],
    ["", undefined],
  ];
  for (const [text, seconds] of cases) {
    const outcome = await outcomeOf("logs_intake", { status: 429, headers: { "retry-after": text } });
    t.equal(outcome.kind === "failed" ? outcome.retryAfterSeconds : null, seconds, text);
  }
});

await t.test("log_analytics: a lifetime of the token that is written as a string counts as a number", async (t) => {
  let logins = 0;
  const post = ({ url }: { url: string }): Promise<Answer> => {
    const isLogin = url.startsWith("https://login.");
    if (isLogin) logins += 1;
    const body = isLogin ? JSON.stringify({ access_token: "token", expires_in: "3600" }) : "";
    return Promise.resolve({ status: isLogin ? 200 : 204, headers: {}, body, isCut: false });
  };
  const channel = { post } as unknown as Channel; // no format uses more of it
  for (let at = 0; at < 3; at += 1)
    t.match(await formatterOf("log_analytics").send(channel, target, Buffer.from("{}"), 2), { kind: "taken" });
  t.equal(logins, 1);
});
