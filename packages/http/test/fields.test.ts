import t from "tap";
import { z } from "zod";
import {
  base64Text,
  chosenOrg,
  compactJwe,
  cursorText,
  instantText,
  decodeCursor,
  encodeCursor,
  namedValues,
  nameText,
  pageLimit,
  sha256Text,
  timestampText,
  uidText,
  uuidText,
} from "../src/index.ts";
import { validate } from "../src/request/validate.ts";

const takes = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;

function check(schema: z.ZodType, good: readonly unknown[], bad: readonly unknown[]): void {
  for (const value of good) t.ok(takes(schema, value), `takes ${JSON.stringify(value)}`.slice(0, 80));
  for (const value of bad) t.notOk(takes(schema, value), `refuses ${JSON.stringify(value)}`.slice(0, 80));
}

await t.test("base64 is that of RFC 4648 section 4, with padding and not empty", (t) => {
  check(
    base64Text(1),
    ["QQ==", "QUI=", "QUJD", "+/+/", "QR=="],
    [
      "",
      "QQ",
      "QQ=",
      "QQ===",
      "Q===",
      "=QQQ",
      "QQ==QQ==",
      "QU-_",
      "QU I",
      "QUJ\n",
      "QUJD\n",
      " QUJD",
      "QUJé",
      "====",
      1,
      null,
      ["QQ=="],
    ],
  );
  check(base64Text(1), ["A".repeat(1024)], ["A".repeat(1028), "A".repeat(1025)]);
  check(base64Text(256), ["A".repeat(256 * 1024)], ["A".repeat(256 * 1024 + 4)]);
  t.end();
});

await t.test("a compact JWE has five parts, of which only the key and the tag's neighbours may be empty", (t) => {
  check(
    compactJwe(1),
    ["eyJh.a.b.c.d", "eyJh..b.c.d", "eyJh.a.b..d", "_-.a.b.c.d"],
    ["", "a.b.c.d", "a.b.c.d.e.f", "....", ".a.b.c.d", "a.b..c.d", "a.b.c.d.", "a.b.c.d=.e", "a.b.c.d.e\n", 1],
  );
  check(compactJwe(1), [`a.b.c.${"d".repeat(1016)}.e`], [`a.b.c.${"d".repeat(1017)}.e`]);
  t.end();
});

await t.test("a name has 1 to 128 characters, of any length in bytes, and no control characters", (t) => {
  const key = "\u{1F511}";
  check(
    nameText(),
    ["a", " ", "é", key, "x".repeat(128), key.repeat(128), "a/b", "%_", "<script>", "__proto__", "a\u200db"],
    [
      "",
      "x".repeat(129),
      key.repeat(129),
      `${key.repeat(128)}x`,
      "a\u0000",
      "a\nb",
      "\t",
      "\u007f",
      "\u0085",
      "\ud83d",
      "a\udd11b",
      1,
      null,
      {},
    ],
  );
  check(nameText(3), ["abc"], ["abcd"]);
  t.end();
});

await t.test("ids have one spelling, and a UUID is taken in either case", (t) => {
  const uuid = "01939ae7-8f3c-7a1b-9c2d-0123456789ab";
  check(
    uuidText,
    [uuid, uuid.toUpperCase(), "00000000-0000-0000-0000-000000000000"],
    [`{${uuid}}`, uuid.replaceAll("-", ""), `${uuid}\n`, ` ${uuid}`, uuid.slice(1), `${uuid}0`, "", 1],
  );
  const uid = "AbCdEfGhIjKlMnOpQrSt_-";
  check(
    uidText,
    [uid, "_".repeat(22)],
    [`-${uid.slice(1)}`, uid.slice(1), `${uid}A`, `${uid.slice(1)}=`, `${uid.slice(1)}+`, `${uid}\n`, "", 1],
  );
  const hash = "0123456789abcdef".repeat(4);
  check(sha256Text, [hash], [hash.toUpperCase(), hash.slice(1), `${hash}0`, `${hash}\n`, "", 1]);
  t.equal(uuidText.parse(uuid.toUpperCase()), uuid);
  t.equal(chosenOrg(uuid.toUpperCase()), uuid);
  t.equal(chosenOrg(undefined), undefined);
  for (const none of ["", "acme", ` ${uuid}`, [uuid]]) t.equal(chosenOrg(none), "00000000-0000-0000-0000-000000000000");
  t.end();
});

await t.test("a moment is UTC, from the year 1 on, up to microseconds", (t) => {
  check(
    timestampText,
    [
      "2026-11-20T10:00:00Z",
      "2026-11-20T10:00:00.1Z",
      "2026-11-20T10:00:00.123456Z",
      "2024-02-29T23:59:59Z",
      "0001-01-01T00:00:00Z",
      "9999-12-31T23:59:59.999999Z",
    ],
    [
      "0000-12-31T23:59:59.999999Z",
      "10000-01-01T00:00:00Z",
      "+010000-01-01T00:00:00Z",
      "-000001-01-01T00:00:00Z",
      "2026-11-20T10:00:00.1234567Z",
      `2026-11-20T10:00:00.${"0".repeat(300)}Z`,
      "2026-11-20T10:00:00.Z",
      "2026-11-20T10:00:00",
      "2026-11-20T10:00:00+01:00",
      "2026-11-20",
      "2026-13-01T00:00:00Z",
      "2025-02-29T00:00:00Z",
      "1700000000",
      "now",
      "",
      1,
    ],
  );
  t.equal(timestampText.safeParse("now").error?.issues.length, 1, "one thing is said of what is none");
  t.end();
});

await t.test("an instant has any offset and is normalized to UTC with microseconds", (t) => {
  for (const [text, normalized] of [
    ["2026-11-20T10:00:00Z", "2026-11-20T10:00:00.000000Z"],
    ["2026-11-20T10:00:00.1Z", "2026-11-20T10:00:00.100000Z"],
    ["2026-11-20T10:00:00.123456789Z", "2026-11-20T10:00:00.123456Z"],
    ["2026-11-20T10:00:00.9999999Z", "2026-11-20T10:00:00.999999Z"],
    [`2026-11-20T10:00:00.${"0".repeat(300)}1Z`, "2026-11-20T10:00:00.000000Z"],
    ["2026-11-20t10:00:00z", "2026-11-20T10:00:00.000000Z"],
    ["2026-11-20T10:00:00+01:00", "2026-11-20T09:00:00.000000Z"],
    ["2026-11-20T10:00:00-00:00", "2026-11-20T10:00:00.000000Z"],
    ["2024-02-29T23:30:00.5-23:59", "2024-03-01T23:29:00.500000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
    ["0000-12-31T23:59:59-00:01", "0001-01-01T00:00:59.000000Z"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
  ] as const)
    t.equal(instantText.parse(text), normalized, text.slice(0, 40));
  for (const none of [
    "0000-12-31T23:59:59Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "10000-01-01T00:00:00Z",
    "+010000-01-01T00:00:00Z",
    "2026-11-20T10:00:00.Z",
    "2026-11-20T10:00:00",
    "2026-11-20T10:00Z",
    "2026-11-20 10:00:00Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T23:59:60Z",
    "2026-11-20T10:00:00+0100",
    "2026-11-20T10:00:00+24:00",
    "2026-11-20",
    "2026-13-01T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "1700000000",
    "infinity",
    "now",
    "",
    1,
    null,
  ])
    t.equal(instantText.safeParse(none).error?.issues.length, 1, JSON.stringify(none));
  t.end();
});

await t.test("a cursor decodes to its position, and other text is refused", (t) => {
  const position = z.strictObject({ after: z.int().positive() });
  const cursor = encodeCursor({ after: 7 });
  t.ok(takes(cursorText, cursor));
  t.strictSame(decodeCursor(cursor, position), { after: 7 });
  const others = ["AAAA", "", encodeCursor({}), encodeCursor({ after: 0 }), encodeCursor({ after: 7, or: 1 })];
  for (const other of others) {
    t.throws(
      () => decodeCursor(other, position),
      Object.assign(new Error("the cursor is not from this list"), { code: "invalid_request" }),
    );
  }
  t.end();
});

await t.test("a page has 1 to 1000 items", (t) => {
  check(
    pageLimit,
    ["1", "9", "10", "99", "100", "999", "1000"],
    ["0", "00", "01", "1001", "9999", "-1", "1.0", "1e3", "", " 1", 1],
  );
  t.equal(pageLimit.parse("1000"), 1000);
  check(cursorText, ["a", "A_-9", "x".repeat(512)], ["", "x".repeat(513), "a=", "a b", "a\n", 1]);
  t.end();
});

await t.test("named values are counted, checked by name and value, and none is dropped in silence", (t) => {
  const fields = namedValues(nameText(), base64Text(1), 3);
  check(
    fields,
    [{}, { a: "QQ==" }, { a: "QQ==", b: "QQ==", "c d": "QQ==" }, JSON.parse('{"constructor":"QQ=="}')],
    [
      { a: "QQ==", b: "QQ==", c: "QQ==", d: "QQ==" },
      { "": "QQ==" },
      { ["x".repeat(129)]: "QQ==" },
      { "a\n": "QQ==" },
      { a: "QQ" },
      { a: 1 },
      JSON.parse('{"__proto__":"QQ=="}'),
      [],
      null,
      "QQ==",
    ],
  );
  t.strictSame(fields.parse({ a: "QQ==" }), { a: "QQ==" });
  const body = z.object({ fields });
  for (const [name, issue] of [
    ["", "the name must have 1 to 128 characters"],
    ["a\n", "the name must not hold control characters or broken Unicode"],
  ] as const) {
    t.throws(
      () => validate(body, { fields: { [name]: "QQ==" } }, "body"),
      Object.assign(new Error("the body is not valid: see details"), { details: [{ field: "fields.*", issue }] }),
    );
  }
  t.ok(takes(fields.optional(), undefined));
  t.end();
});

await t.test("no issue quotes the value", (t) => {
  const secret = "s3cret-Value";
  for (const schema of [
    base64Text(1),
    compactJwe(1),
    uuidText,
    uidText,
    sha256Text,
    timestampText,
    instantText,
    pageLimit,
    cursorText,
    nameText(3),
  ]) {
    const result = schema.safeParse(`${secret}!`);
    t.notOk(result.success);
    t.notMatch(JSON.stringify(result.error?.issues.map(({ message }) => message)), /s3cret/);
  }
  t.end();
});
