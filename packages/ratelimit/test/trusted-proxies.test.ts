import t from "tap";
import { parseTrustedProxies, sourceAddress } from "../src/index.ts";

/** Whether a proxy at `socket` is trusted if `cidr` is. */
const believes = (cidr: string, socket: string): boolean =>
  sourceAddress(socket, "198.51.100.1", parseTrustedProxies([cidr])) === "198.51.100.1";

await t.test("a network covers exactly its addresses", (t) => {
  t.ok(believes("172.16.0.0/12", "172.16.0.0"));
  t.ok(believes("172.16.0.0/12", "172.31.255.255"));
  t.notOk(believes("172.16.0.0/12", "172.32.0.0"));
  t.notOk(believes("172.16.0.0/12", "172.15.255.255"));
  t.ok(believes("2001:db8::/32", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"));
  t.notOk(believes("2001:db8::/32", "2001:db9::"));
  t.end();
});

await t.test("a single address is a network of one", (t) => {
  t.ok(believes("192.0.2.7", "192.0.2.7"));
  t.notOk(believes("192.0.2.7", "192.0.2.8"));
  t.ok(believes("::1", "::1"));
  t.notOk(believes("::1", "::2"));
  t.end();
});

await t.test("a network of one family does not affect the other", (t) => {
  t.notOk(believes("0.0.0.0/0", "2001:db8::1"));
  t.notOk(believes("::/0", "203.0.113.1"));
  t.ok(believes("0.0.0.0/0", "203.0.113.1"));
  t.ok(believes("::/0", "2001:db8::1"));
  t.end();
});

await t.test("mapped addresses are IPv4, in networks as in sockets", (t) => {
  t.ok(believes("10.0.0.0/8", "::ffff:10.9.9.9"));
  t.ok(believes("::ffff:10.0.0.0/104", "10.9.9.9"));
  t.notOk(believes("::ffff:10.0.0.0/104", "11.0.0.1"));
  t.end();
});

await t.test("an invalid network is named", (t) => {
  for (const bad of ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "2001:db8::/129", "10/8", "proxy"])
    t.throws(() => parseTrustedProxies(["10.0.0.0/8", bad]), new TypeError(`${JSON.stringify(bad)} is not a network`));
  t.throws(() => parseTrustedProxies(["::ffff:10.0.0.0/95"]), TypeError);
  t.end();
});
