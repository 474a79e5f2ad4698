import t from "tap";
import { isSecret, kindOf } from "../src/record-fields.ts";
import type { CharacterSet } from "../src/protocol/records.ts";
import { newPassword } from "../src/worker/records/new-password.ts";
import { oneTimeCode } from "../src/worker/records/one-time-code.ts";

const base32 = (text: string): string => {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(five.padEnd(5, "0"), 2)])
    .join("");
};

await t.test("one-time codes are those of RFC 6238, appendix B", async (t) => {
  const seeds = {
    SHA1: base32("12345678901234567890"),
    SHA256: base32("12345678901234567890123456789012"),
    SHA512: base32("1234567890123456789012345678901234567890123456789012345678901234"),
  };
  const expected = [
    [59, "94287082", "46119246", "90693936"],
    [1111111109, "07081804", "68084774", "25091201"],
    [1234567890, "89005924", "91819424", "93441116"],
    [20000000000, "65353130", "77737706", "47863826"],
  ] as const;
  for (const [seconds, ...codes] of expected)
    for (const [at, [algorithm, secret]] of Object.entries(seeds).entries()) {
      const text = `otpauth://totp/x?secret=${secret}&digits=8&algorithm=${algorithm}`;
      t.match(await oneTimeCode(text, seconds * 1000), { code: codes[at] }, `${algorithm} at ${seconds}`);
    }
});

await t.test("a secret alone has six digits for 30 s, however it is written", async (t) => {
  const plain = await oneTimeCode("JBSWY3DPEHPK3PXP", 59_000);
  t.match(plain, { until: 60_000, periodSeconds: 30, code: /^\d{6}$/ });
  t.same(await oneTimeCode("jbsw y3dp ehpk 3pxp", 59_000), plain);
  t.same(await oneTimeCode("JBSW-Y3DP-EHPK-3PXP==", 59_000), plain);
  t.same(await oneTimeCode("otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&period=60", 59_000), {
    ...(await oneTimeCode("JBSWY3DPEHPK3PXP", 1000)),
    until: 60_000,
    periodSeconds: 60,
  });
});

await t.test("a Steam code has five letters", async (t) => {
  const code = await oneTimeCode("otpauth://totp/s?secret=JBSWY3DPEHPK3PXP&encoder=steam", 0);
  t.match(code, { code: /^[23456789BCDFGHJKMNPQRTVWXY]{5}$/ });
});

await t.test("what is no secret gives no code", async (t) => {
  for (const text of ["", "1", "not base 32!", "otpauth://hotp", "otpauth://totp/x", "otpauth://totp/x?secret=A1"])
    t.equal(await oneTimeCode(text, 0), null, text);
  for (const query of ["period=0", "digits=11", "digits=x", "algorithm=MD5"])
    t.equal(await oneTimeCode(`otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&${query}`, 0), null, query);
});

await t.test("new passwords have the length, all sets of characters, and do not repeat", (t) => {
  const made = new Set<string>();
  for (let round = 0; round < 200; round += 1) {
    const text = newPassword({ kind: "characters", length: 12 });
    t.match(text, /^(?=.*[a-z])(?=.*[A-Z])(?=.*[2-9])(?=.*[!#$%&*+\-=?@_])[^lIO01\s]{12}$/);
    made.add(text);
  }
  t.equal(made.size, 200);
  t.match(newPassword({ kind: "words", length: 6 }), /^[a-z]+(-[a-z]+){5}$/);
  t.end();
});

await t.test("a new password has no character that a site refuses, and all others", (t) => {
  const make = (...without: CharacterSet[]): string => newPassword({ kind: "characters", length: 12, without });
  for (let round = 0; round < 50; round += 1) {
    t.match(make("symbols"), /^(?=.*[a-z])(?=.*[A-Z])(?=.*[2-9])[A-Za-z2-9]{12}$/);
    t.match(make("digits"), /^(?=.*[a-z])(?=.*[A-Z])(?=.*[!#$%&*+\-=?@_])[^\d]{12}$/);
    t.match(make("capitals", "symbols", "digits"), /^[a-z]{12}$/);
  }
  t.end();
});

await t.test("secrets are known by their fields, also the person's own", (t) => {
  for (const key of ["password", "totp_secret", "number", "code", "private_key"]) t.ok(isSecret(key, {}), key);
  for (const key of ["username", "uri", "notes", "name"]) t.notOk(isSecret(key, {}), key);
  t.ok(isSecret("custom.PIN", { "custom_type.PIN": "hidden" }));
  t.notOk(isSecret("custom.Shop", { "custom_type.Shop": "text" }));
  t.equal(kindOf("login", "uri_2", false), "address");
  t.equal(kindOf("other", "anything", true), "secret");
  t.equal(kindOf("constructor", "notes", false), "lines");
  t.end();
});
