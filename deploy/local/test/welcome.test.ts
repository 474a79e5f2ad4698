import t from "tap";
import { startBrowser } from "../../../packages/crypto/test/browser/start.ts";
import { openFront } from "../src/services/front.ts";
import { allServices } from "../src/services/services.ts";

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const open = async (address?: string) => {
  const front = await openFront({
    host: "127.0.0.1",
    port: 0,
    drainSeconds: 1,
    rows: allServices,
    corsOrigins: () => [],
  });
  t.teardown(() => front.close());
  front.use(new Map(), address ?? front.url);
  return front;
};

await t.test("only a browser gets the page", async (t) => {
  const { url } = await open();
  const request = (path: string, init: RequestInit = {}) => fetch(url + path, { ...init, headers: { accept } });
  for (const path of ["/", "/?from=elsewhere"]) {
    const page = await request(path);
    t.equal(page.status, 200);
    t.match(Object.fromEntries(page.headers), {
      "cache-control": "no-store",
      "content-security-policy":
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      "content-type": "text/html; charset=utf-8",
      "referrer-policy": "no-referrer",
      vary: "Accept",
      "x-content-type-options": "nosniff",
    });
    t.match(
      await page.text(),
      /npx coffer register[^]*npx coffer folder create[^]*npx coffer set[^]*docs\/running\.md/,
    );
  }
  const head = await request("/", { method: "HEAD" });
  t.equal(head.status, 200);
  t.ok(Number(head.headers.get("content-length")) > 1000);
  for (const [path, init] of [
    ["/index.html", {}],
    ["/api", {}],
    ["/api/nothing", {}],
    ["//", {}],
    ["/", { method: "POST" }],
  ] as const) {
    const refused = await request(path, init);
    t.equal(refused.status, 404, path);
    t.match(await refused.json(), { error: "not_found" });
  }
  const program = await fetch(`${url}/`, { headers: { accept: "application/json" } });
  t.match(await program.json(), { error: "not_found" });
});

await t.test("an address cannot become a part of the page's code", async (t) => {
  const { url } = await open("https://a.example/<script>\"'&");
  const text = await (await fetch(`${url}/`, { headers: { accept } })).text();
  t.notMatch(text, "<script>");
  t.match(text, "https://a.example/&#60;script&#62;&#34;&#39;&#38;");
});

await t.test("in a browser it has its style, fits a phone, and loads nothing else", async (t) => {
  const { url } = await open("https://coffer.a-rather-long-name-of-a-company.example.com");
  const browser = await startBrowser(t);
  const page = await browser.openPage();
  const problems: string[] = [];
  const requested: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("request", (request) => requested.push(request.url()));
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${url}/`);
    const seen: unknown = await page.evaluate(`({
      overflows: document.documentElement.scrollWidth > innerWidth,
      maxWidth: getComputedStyle(document.body).maxWidth,
      heading: document.querySelector("h1")?.textContent,
    })`);
    t.strictSame(seen, { overflows: false, maxWidth: "736px", heading: "Coffer" }, `${width} px`);
  }
  t.strictSame(
    [...new Set(requested)].filter((each) => !each.endsWith("/favicon.ico")),
    [`${url}/`],
  );
  t.strictSame(
    problems.filter((each) => !each.includes("404")),
    [],
    "the policy allows all that the page has",
  );
});
