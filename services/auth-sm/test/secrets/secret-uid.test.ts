import t from "tap";
import { newSecretUid } from "../../src/secrets/uid.ts";

/** A source of bytes that gives these, in turn. */
const source =
  (...given: Buffer[]) =>
  (count: number): Buffer => {
    const bytes = given.shift();
    if (bytes?.length !== count) throw new Error(`${count} bytes were asked for`);
    return bytes;
  };
const beginningWith = (first: number): Buffer => Buffer.concat([Buffer.from([first]), Buffer.alloc(15, 0xff)]);

await t.test("a uid is 16 random bytes in base64url", (t) => {
  t.equal(newSecretUid(source(Buffer.alloc(16))), "AAAAAAAAAAAAAAAAAAAAAA");
  t.equal(newSecretUid(source(beginningWith(0xf7))), `9${"_".repeat(20)}w`);
  t.equal(newSecretUid(source(beginningWith(0xfc))), `_P${"_".repeat(19)}w`);
  t.end();
});

await t.test("it never begins with a hyphen, for any bytes", (t) => {
  // 62, the hyphen, is in the upper six bits of these four, and of no others.
  const hyphens = [0xf8, 0xf9, 0xfa, 0xfb].map(beginningWith);
  for (const bytes of hyphens) t.match(bytes.toString("base64url"), /^-/);
  t.equal(newSecretUid(source(...hyphens, Buffer.alloc(16))), "AAAAAAAAAAAAAAAAAAAAAA");
  t.end();
});
