import fc from "fast-check";

/**
 * What ends, opens, separates or escapes something in one of our formats, what a terminal obeys,
 * and what readers fold, hide or reorder.
 */
const signs = [
  ...["\0", "\t", "\n", "\r\n", "\r", "\u001b[2J", "\u007f", "\u0085", "\u009b", "\u00a0"],
  ...["\u00ad", "\u200b", "\u202e", "\u2066", "\u2028", "\u2029", "\ufeff", "\ufffd", "\uffff", "\u{e0041}"],
  ...['"', "'", "`", "\\", "\\n", "$", "$&", "$(id)", "!", "#", "=", "+", "-", "@", "%", "%2F", "%00", "&", "&amp;"],
  ...["<", ">", "]]>", "{{", "}}", "{", "}", "[", "]", "/", "?", "*", "~", ",", ";", ":", ": ", "|", " ", "  "],
  ...["a", "A1", "0", "é", "e\u0301", "İ", "ß", "🔑", "👩‍👧", "__proto__", "constructor", "null", "true"],
];

/** Text of an opponent, always well-formed: what a vault stores is UTF-8. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.constantFrom(...signs), { maxLength: 6 }).map((parts) => parts.join("")) },
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...signs), fc.nat(3000)).map(([sign, count]) => sign.repeat(count)),
  },
);

/** The same, with lone surrogates: what a program may be given. */
export const brokenText: fc.Arbitrary<string> = fc
  .tuple(hostileText, fc.constantFrom("", "\ud800", "\udc00", "\udfff\ud800"), hostileText)
  .map((parts) => parts.join(""));
