import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import t from "tap";
import { maskedTexts, maskingStream } from "../../src/run/mask.ts";

async function masked(texts: string[], chunks: (string | Buffer)[]): Promise<string> {
  const source = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return (await buffer(source.pipe(maskingStream(texts)))).toString("latin1");
}

await t.test("a value is replaced, and what is around it stays", async (t) => {
  t.equal(await masked(["s3cret"], ["the password is s3cret, really"]), "the password is ***, really");
  t.equal(await masked(["s3cret"], ["s3cres3crets3cret."]), "s3cre***.");
});

await t.test("a value that is cut anywhere between chunks is replaced", async (t) => {
  const text = "x-s3cret-y";
  for (let at = 1; at < text.length; at += 1)
    t.equal(await masked(["s3cret"], [text.slice(0, at), text.slice(at)]), "x-***-y", `cut at ${at}`);
  t.equal(await masked(["s3cret"], Array.from(text)), "x-***-y");
});

await t.test("the start of a value that does not continue is written, at the latest at the end", async (t) => {
  t.equal(await masked(["s3cret"], ["s3c", "old ", "s3cre"]), "s3cold s3cre");
});

await t.test("values that overlap or hold one another are replaced as one", async (t) => {
  t.equal(await masked(["abcd", "cdef"], ["-abcdef-"]), "-***-");
  t.equal(await masked(["bc", "abcd"], ["-abcd-bc-"]), "-***-***-");
  t.equal(await masked(["aa"], ["aaa!"]), "***!");
});

await t.test("of a value of several lines each line is replaced too, but no blank one", async (t) => {
  const texts = maskedTexts(["first\nsecond\r\n\n  \nthird\n"]);
  t.same(new Set(texts), new Set(["first\nsecond\r\n\n  \nthird\n", "first", "second", "third"]));
  t.equal(await masked(texts, ["a second b\n\n  \nthird"]), "a *** b\n\n  \n***");
});

await t.test("a value or line of fewer than four characters is never masked", async (t) => {
  t.same(maskedTexts(["a", "abc", "👍👍👍", "ab\r\n}\nlong enough"]), ["ab\r\n}\nlong enough", "long enough"]);
  t.same(maskedTexts(["abcd", "👍👍👍👍"]), ["abcd", "👍👍👍👍"]);
  t.equal(await masked(maskedTexts(["1", "true"]), ["1 is true"]), "1 is ***");
});

await t.test("an empty or blank value replaces nothing", (t) => {
  t.same(maskedTexts(["", " ", "\n"]), []);
  t.end();
});

await t.test("bytes that are no text pass unchanged", async (t) => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_none, byte) => byte));
  t.equal(await masked(["s3cret"], [bytes, bytes]), Buffer.concat([bytes, bytes]).toString("latin1"));
});

await t.test("a masked output is that of a slow and plain search of the whole, however it is cut", async (t) => {
  const word = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength });
  const values = fc.array(word(5), { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(values, fc.array(word(7), { maxLength: 20 }), async (texts, chunks) => {
    assert.equal(await masked(texts, chunks), plainlyMasked(texts, chunks.join("")));
  });
  await fc.assert(property, { numRuns: 400 });
  t.pass();
});

/** Every byte of every occurrence, found one by one; neighbours become one replacement. */
function plainlyMasked(values: string[], text: string): string {
  const covered = Array<boolean>(text.length).fill(false);
  for (const value of values)
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1))
      covered.fill(true, at, at + value.length);
  return Array.from(text)
    .map((letter, at) => (covered[at] === true ? (covered[at - 1] === true ? "" : "***") : letter))
    .join("");
}
