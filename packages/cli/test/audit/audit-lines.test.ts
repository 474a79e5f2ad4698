import t from "tap";
import { headingOf, lineOf, seqOf } from "../../src/audit/audit-lines.ts";

const record = {
  schema: "coffer.audit/1",
  id: "01900000-0000-7000-8000-000000000000",
  time: "2026-11-20T10:00:00.123456Z",
  org_id: null,
  action: "secret.read",
  outcome: "success",
  actor: { type: "client", id: "c", application_id: "a" },
  target: { type: "secret", id: 'a "quoted" id' },
  source: { ip: "203.0.113.7", user_agent: "=cmd|' /C calc'!A0" },
  request: { id: "r", method: "GET", route: "/x,y", status: 200 },
  changes: { name: "a\nb", count: 1 },
  seq: 7,
  prev_hash: "0",
  hash: "1",
};
/** The cells of one line, by RFC 4180. */
const cellsOf = (line: string): string[] =>
  Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g), ([, text, bare = ""]) =>
    text === undefined ? bare : text.replaceAll('""', '"'),
  );

await t.test("a line of JSON is the whole record", (t) => {
  const line = lineOf("jsonl", record);
  t.notMatch(line, "\n");
  t.same(JSON.parse(line), record);
  t.equal(headingOf("jsonl"), undefined);
  t.end();
});

await t.test("a line of CSV has a cell for each heading, and all text is quoted", (t) => {
  const headings = cellsOf(headingOf("csv") ?? "");
  const line = lineOf("csv", record);
  const cells = cellsOf(line);
  t.equal(cells.length, headings.length);
  const shown = Object.fromEntries(headings.map((heading, at) => [heading, cells[at]]));
  t.match(shown, {
    seq: "7",
    action: "secret.read",
    target_id: 'a "quoted" id',
    request_route: "/x,y",
    request_status: "200",
    actor_session_id: "",
    org_id: "",
    changes: '{"name":"a\\nb","count":1}',
    hash: "1",
  });
  t.end();
});

await t.test("no cell begins as a formula, and no record takes two lines", (t) => {
  for (const agent of ["=1+1", "+1", "-1", "@SUM(A1)", "  =1", "\t=1", "\r\n=1", "\u202e=1", "a\nb"]) {
    const line = lineOf("csv", { ...record, source: { ip: null, user_agent: agent } });
    t.notMatch(line, /[\r\n\t]/, agent);
    for (const cell of cellsOf(line)) t.notMatch(cell, /^[\s]*[=+@]|^\s*-\D/, agent);
  }
  t.match(lineOf("csv", record), `"'=cmd|' /C calc'!A0"`);
  t.end();
});

await t.test("the place of a line is read back, and what is no line of an export has none", (t) => {
  for (const format of ["jsonl", "csv"] as const) t.equal(seqOf(format, lineOf(format, record)), 7);
  t.equal(seqOf("csv", headingOf("csv") ?? ""), null);
  for (const line of ["", "{}", "[]", "null", "7", '{"seq":"7"}', '{"seq":1.5}'])
    t.equal(seqOf("jsonl", line), null, line);
  for (const line of ["", "x,1", "7", '"7",', "-7,"]) t.equal(seqOf("csv", line), null, line);
  t.end();
});
