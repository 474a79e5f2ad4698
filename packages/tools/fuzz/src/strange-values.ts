/** JSON that `JSON.stringify` does not write: it is part of a value and inserted into the text unchanged. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export interface StrangeValue {
  readonly name: string;
  /** A copy for the caller: later changes are in no other request, nor in itself. */
  make(): unknown;
}

export interface StrangeText extends StrangeValue {
  make(): string;
}

const value = (name: string, content: unknown): StrangeValue => ({ name, make: () => structuredClone(content) });
const text = (name: string, make: () => string): StrangeText => ({ name, make });
const raw = (json: string): StrangeValue => ({ name: `the JSON ${json.slice(0, 24)}`, make: () => new RawJson(json) });

const kibibyte = 1024;

/** Texts that are not valid names, ids, keys or tokens. */
export const strangeTexts: readonly StrangeText[] = [
  text("an empty text", () => ""),
  text("a blank", () => " "),
  text("NUL", () => "\0"),
  text("NUL inside", () => "a\0b"),
  text("control characters", () => "\x01\x1f\x7f\x85"),
  text("line ends", () => "a\r\nb: c"),
  text("a lone high surrogate", () => "a\ud800"),
  text("a lone low surrogate", () => "\udc00b"),
  text("a surrogate pair", () => "\u{1f600}"),
  text("the last code point", () => "\u{10ffff}"),
  text("no character", () => "\ufffe\uffff"),
  text("a byte order mark", () => "\ufeffa"),
  text("right to left", () => "\u202egnp.exe\u202c"),
  text("zero width", () => "a\u200b\u200d\u2060b"),
  text("many marks", () => `e${"\u0301".repeat(200)}`),
  text("letters that grow", () => "ŉǰΐﬃİßﷺ".repeat(20)),
  text("full width digits", () => "１２３"),
  text("a path upwards", () => "../../../../etc/passwd"),
  text("SQL", () => "'; DROP TABLE users; --"),
  text("a pattern", () => "%_\\%[a-z]*"),
  text("a template", () => "${jndi:ldap://x}{{7*7}}#{7*7}"),
  text("markup", () => "<script>alert(1)</script>&amp;"),
  text("a format", () => "%s%n%x%d"),
  text("__proto__", () => "__proto__"),
  text("constructor", () => "constructor"),
  text("toString", () => "toString"),
  text("the word null", () => "null"),
  text("the word undefined", () => "undefined"),
  text("the word NaN", () => "NaN"),
  text("a number", () => "-1e400"),
  text("a UUID of zeros", () => "00000000-0000-0000-0000-000000000000"),
  text("a UUID of fs", () => "ffffffff-ffff-ffff-ffff-ffffffffffff"),
  text("a UUID in capitals", () => "019A9E05-3333-7333-8333-333333333333"),
  text("a UUID in braces", () => "{019a9e05-3333-7333-8333-333333333333}"),
  text("a uid", () => "AAAAAAAAAAAAAAAAAAAAAA"),
  text("base64", () => "AAAA"),
  text("base64 without padding", () => "AAAAA"),
  text("base64 with a line end", () => "AAAA\nAAAA"),
  text("base64 of another alphabet", () => "_-__"),
  text("padding alone", () => "===="),
  text("a compact JWE of nothing", () => "e30..e30..e30"),
  text("a JWT", () => "eyJhbGciOiJub25lIn0.e30."),
  text("a public key of zeros", () => Buffer.alloc(91).toString("base64")),
  text("a point at infinity", () => Buffer.alloc(65, 4).toString("base64")),
  text("an e-mail", () => "a@b"),
  text("an e-mail of another spelling", () => " Ｅ@Example.COM "),
  text("only an at sign", () => "@"),
  text("a moment before the first", () => "0000-00-00T00:00:00Z"),
  text("a moment in the year 1", () => "0001-01-01T00:00:00.000000Z"),
  text("the last moment", () => "9999-12-31T23:59:59.999999Z"),
  text("a moment beyond", () => "+275760-09-13T00:00:00.000Z"),
  text("the 30th of February", () => "2026-02-30T00:00:00Z"),
  text("a leap second", () => "2026-12-31T23:59:60Z"),
  text("a moment without seconds", () => "2026-11-20T10:00Z"),
  text("a moment elsewhere", () => "2026-11-20T10:00:00+14:00"),
  text("a moment with many digits", () => `2026-11-20T10:00:00.${"9".repeat(30)}Z`),
  text("a network", () => "::ffff:0:0/96"),
  text("no network", () => "1.2.3.4/33"),
  text("an address with a zone", () => "fe80::1%eth0"),
  text("one character too many", () => "x".repeat(129)),
  text("256 characters", () => "x".repeat(256)),
  text("4 KiB and one", () => "x".repeat(4 * kibibyte + 1)),
  text("64 KiB of base64", () => "A".repeat(64 * kibibyte)),
  text("64 KiB of base64 and more", () => "A".repeat(64 * kibibyte + 4)),
  text("257 KiB of base64", () => "A".repeat(257 * kibibyte)),
];

/** Values of other types, and extreme numbers. */
export const strangeKinds: readonly StrangeValue[] = [
  value("null", null),
  value("true", true),
  value("false", false),
  value("zero", 0),
  value("one", 1),
  value("minus one", -1),
  value("a fraction", 1.5),
  value("the last safe integer", Number.MAX_SAFE_INTEGER),
  value("2^31", 2 ** 31),
  value("2^32", 2 ** 32),
  value("2^53", 2 ** 53),
  value("2^63", 2 ** 63),
  raw("-0"),
  raw("1e308"),
  raw("1e400"),
  raw("-1e400"),
  raw("5e-324"),
  raw("1.0"),
  raw("1e0"),
  raw(`9${"9".repeat(400)}`),
  raw(`0.${"1".repeat(400)}`),
  raw("NaN"),
  raw("Infinity"),
  raw("01"),
  raw("+1"),
  raw("0x10"),
  raw("undefined"),
  raw("'single'"),
  raw('"\\x41"'),
  raw('"\\ud800"'),
  raw('"\t"'),
  value("an empty list", []),
  value("an empty object", {}),
  value("a list of null", [null]),
  value("a list of lists", [[[]]]),
  value(
    "a long list",
    Array.from({ length: 5000 }, () => 0),
  ),
  value("a list of texts", ["a", "a", "a"]),
  value("an object like an array", { 0: "a", length: 1 }),
  raw('{"__proto__":{"admin":true}}'),
  raw('{"constructor":{"prototype":{"admin":true}}}'),
  raw('{"toString":1,"valueOf":1,"hasOwnProperty":1}'),
  raw('{"a":1,"a":2}'),
  { name: "a deep list", make: () => new RawJson(`${"[".repeat(2000)}${"]".repeat(2000)}`) },
  { name: "a deep object", make: () => new RawJson(`${'{"a":'.repeat(2000)}1${"}".repeat(2000)}`) },
  {
    name: "an object of many fields",
    make: () => Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [at, 0])),
  },
];

/** Names of unknown fields. */
export const strangeNames: readonly string[] = [
  "",
  " ",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "id",
  "role",
  "org_id",
  "user_id",
  "is_admin",
  "a\0b",
  "\ud800",
  "x".repeat(5000),
  "$where",
  "0",
];
