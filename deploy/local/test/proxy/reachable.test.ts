import t from "tap";
import { unreachableBaseUrls } from "../../src/services/reachable.ts";

const local = ["http://127.0.0.1:8080", "http://localhost:8080"];

await t.test("a public listener with local base addresses only causes a warning", (t) => {
  for (const host of ["0.0.0.0", "::", "192.0.2.2", "coffer.example.com"])
    t.match(unreachableBaseUrls(host, local), /COFFER_BASE_URL names the address/, host);
  t.end();
});

await t.test("there is no warning on loopback, or with one public base address", (t) => {
  for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
    t.equal(unreachableBaseUrls(host, local), null, host);
  t.equal(unreachableBaseUrls("0.0.0.0", [...local, "http://192.0.2.2:8080"]), null);
  t.equal(unreachableBaseUrls("0.0.0.0", ["https://coffer.example.com/vault"]), null);
  t.match(unreachableBaseUrls("0.0.0.0", ["http://[::1]:8080"]), /COFFER_BASE_URL/);
  t.end();
});
