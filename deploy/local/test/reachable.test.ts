import t from "tap";
import { unreachableBaseUrls } from "../src/reachable.ts";

const local = ["http://127.0.0.1:8080", "http://localhost:8080"];

await t.test("who listens for other machines is told that the base addresses are this machine's alone", (t) => {
  for (const host of ["0.0.0.0", "::", "192.0.2.2", "coffer.example.com"])
    t.match(unreachableBaseUrls(host, local), /COFFER_BASE_URL names the address/, host);
  t.end();
});

await t.test("nothing is said on loopback, or when one base address is another machine's way here", (t) => {
  for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
    t.equal(unreachableBaseUrls(host, local), null, host);
  t.equal(unreachableBaseUrls("0.0.0.0", [...local, "http://192.0.2.2:8080"]), null);
  t.equal(unreachableBaseUrls("0.0.0.0", ["https://coffer.example.com/vault"]), null);
  t.match(unreachableBaseUrls("0.0.0.0", ["http://[::1]:8080"]), /COFFER_BASE_URL/);
  t.end();
});
