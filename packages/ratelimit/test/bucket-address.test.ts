import t from "tap";
import { bucketAddress } from "../src/index.ts";

await t.test("IPv4 counts per address, mapped or not", (t) => {
  t.equal(bucketAddress("203.0.113.9"), "203.0.113.9");
  t.equal(bucketAddress("::ffff:203.0.113.9"), "203.0.113.9");
  t.not(bucketAddress("203.0.113.9"), bucketAddress("203.0.113.10"));
  t.end();
});

await t.test("IPv6 counts per /64", (t) => {
  t.equal(bucketAddress("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  t.equal(bucketAddress("2001:db8:1:2::"), "2001:db8:1:2::/64");
  t.equal(bucketAddress("2001:db8:1:2:ffff:ffff:ffff:ffff"), "2001:db8:1:2::/64");
  t.equal(bucketAddress("2001:db8:1:3::"), "2001:db8:1:3::/64");
  t.equal(bucketAddress("::1"), "::/64");
  t.equal(bucketAddress("fe80::1%eth0"), "fe80::/64");
  t.end();
});

await t.test("it is idempotent", (t) => {
  for (const ip of ["203.0.113.9", "2001:db8:1:2:3:4:5:6", "::1", "nonsense"])
    t.equal(bucketAddress(bucketAddress(ip)), bucketAddress(ip));
  t.end();
});

await t.test("no input makes a long name", (t) => {
  t.equal(bucketAddress("2001:db8:1111:2222:3333:4444:5555:6666"), "2001:db8:1111:2222::/64");
  for (const text of [
    "",
    "unknown",
    "x".repeat(100_000),
    `fe80::1%${"y".repeat(1000)}`,
    "1.2.3.4\r\nSET x 1",
    "/64",
    "{a}",
  ])
    t.ok(bucketAddress(text).length <= 25, text.slice(0, 20));
  t.equal(bucketAddress("x".repeat(100_000)), "unknown");
  t.end();
});
