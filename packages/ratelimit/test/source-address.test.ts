import t from "tap";
import { parseTrustedProxies, sourceAddress } from "../src/index.ts";

const trusted = parseTrustedProxies(["10.0.0.0/8", "192.0.2.7", "2001:db8:ffff::/48"]);
const from = (socket: string | undefined, forwarded?: string): string => sourceAddress(socket, forwarded, trusted);

await t.test("without a trusted proxy the socket's address counts, with any header", (t) => {
  t.equal(from("203.0.113.9"), "203.0.113.9");
  for (const forged of ["198.51.100.1", "10.0.0.1", "127.0.0.1, 10.0.0.1", "::1", "garbage", "", ",", "%00"])
    t.equal(from("203.0.113.9", forged), "203.0.113.9", JSON.stringify(forged));
  t.end();
});

await t.test("behind a trusted proxy the right-most address that is not a trusted proxy counts", (t) => {
  t.equal(from("10.1.2.3", "198.51.100.1"), "198.51.100.1");
  t.equal(from("10.1.2.3", "198.51.100.1, 198.51.100.2"), "198.51.100.2");
  t.equal(from("10.1.2.3", "198.51.100.1, 198.51.100.2, 10.9.9.9"), "198.51.100.2");
  t.equal(from("192.0.2.7", "198.51.100.1, 10.0.0.2 , 192.0.2.7,10.0.0.3"), "198.51.100.1");
  t.equal(from("10.1.2.3"), "10.1.2.3");
  t.end();
});

await t.test("entries that a caller adds never change its address", (t) => {
  for (const forged of ["1.2.3.4", "10.0.0.1", "::1", "unknown", "", ",,,", "a".repeat(10_000), "1.2.3.4,".repeat(500)])
    t.equal(from("10.1.2.3", `${forged}, 198.51.100.2`), "198.51.100.2", forged.slice(0, 20));
  t.end();
});

await t.test("when every entry is trusted the left-most counts", (t) => {
  t.equal(from("10.1.2.3", "10.0.0.1, 10.0.0.2, 192.0.2.7"), "10.0.0.1");
  t.equal(from("10.1.2.3", "10.0.0.1"), "10.0.0.1");
  t.end();
});

await t.test("an invalid entry ends the walk at the last valid one", (t) => {
  for (const bad of ["unknown", "_hidden", "", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "1.2.3", "1.2.3.4.5"])
    t.equal(from("10.1.2.3", `198.51.100.1, ${bad}, 10.0.0.2`), "10.0.0.2", JSON.stringify(bad));
  for (const bad of ["256.1.1.1", "198.51.100.1/32", "[::1", "::1]", "[198.51.100.1", "example.com", "198.51.100.1:x"])
    t.equal(from("10.1.2.3", bad), "10.1.2.3", bad);
  t.equal(from("10.1.2.3", ""), "10.1.2.3");
  t.equal(from("10.1.2.3", ","), "10.1.2.3");
  t.end();
});

await t.test("entries may have ports, brackets and spaces", (t) => {
  t.equal(from("10.1.2.3", "198.51.100.1:51234"), "198.51.100.1");
  t.equal(from("10.1.2.3", "\t198.51.100.1:1 ,10.0.0.2:8080"), "198.51.100.1");
  t.equal(from("10.1.2.3", "[2001:db8::1]"), "2001:db8::1");
  t.equal(from("10.1.2.3", "[2001:db8::1]:443"), "2001:db8::1");
  t.equal(from("10.1.2.3", "2001:db8::1"), "2001:db8::1");
  t.equal(from("10.1.2.3", "198.51.100.1, [2001:db8:ffff::9]:443"), "198.51.100.1");
  t.end();
});

await t.test("each address has one spelling", (t) => {
  t.equal(from("::ffff:203.0.113.9"), "203.0.113.9");
  t.equal(from("::FFFF:cb00:7109"), "203.0.113.9");
  t.equal(from("0:0:0:0:0:ffff:203.0.113.9"), "203.0.113.9");
  t.equal(from("2001:0DB8:0000:0000:0000:0000:0000:0001"), "2001:db8::1");
  t.equal(from("fe80::1%eth0"), "fe80::1");
  t.equal(from("::1"), "::1");
  t.equal(from("::ffff:10.1.2.3", "::ffff:198.51.100.1"), "198.51.100.1");
  t.end();
});

await t.test("a closed connection has no address", (t) => {
  t.equal(from(undefined), "unknown");
  t.equal(from(undefined, "198.51.100.1"), "unknown");
  t.end();
});
