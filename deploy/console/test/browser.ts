import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { locateBrowser } from "../../../packages/crypto/test/browser/locate.ts";

interface Scope {
  teardown(work: () => Promise<void>): unknown;
}

declare global {
  /** What the test sees in a page, also what no screen shows. */
  var seen: { violations: string[]; messages: string[]; copied: string[] };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A person's browser: pages that share storage and the worker. */
export interface Visitor {
  context: BrowserContext;
  open(path?: string): Promise<Page>;
  /** Errors in the console and violations of the policy so far, in all pages. */
  troubles(): Promise<string[]>;
  /** Everything that a page holds where another program could read it. */
  traces(page: Page): Promise<string>;
}

export interface VisitorOptions extends BrowserContextOptions {
  /** As in a browser without shared workers. */
  withoutSharedWorker?: boolean;
}

/** Starts the browser that the tests of the SDK use. */
export async function startVisitors(t: Scope, url: string): Promise<(options?: VisitorOptions) => Promise<Visitor>> {
  const { executablePath, libraryPath } = await locateBrowser();
  const environment = libraryPath === undefined ? {} : { env: { ...process.env, LD_LIBRARY_PATH: libraryPath } };
  // A sandbox needs privileges that a container lacks; the browser opens this installation alone.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], ...environment });
  t.teardown(() => browser.close());

  return async ({ withoutSharedWorker = false, ...options } = {}) => {
    const context = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(30_000);
    await context.addInitScript(watch, withoutSharedWorker);
    const errors: string[] = [];
    context.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
    });
    context.on("weberror", (error) => errors.push(error.error().message));
    return {
      context,
      async open(path = "/") {
        const page = await context.newPage();
        await page.goto(url + path);
        return page;
      },
      async troubles() {
        const violations = await Promise.all(context.pages().map((page) => page.evaluate(() => seen.violations)));
        return [...errors, ...violations.flat()];
      },
      traces,
    };
  };
}

/** Runs in each page before its own script. */
function watch(withoutSharedWorker: boolean): void {
  globalThis.seen = { violations: [], messages: [], copied: [] };
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
    seen.violations.push(`${effectiveDirective} ${blockedURI}`),
  );
  const hear = (port: MessagePort | Worker): void =>
    port.addEventListener("message", (event) => seen.messages.push(JSON.stringify((event as MessageEvent).data)));
  if (withoutSharedWorker) Reflect.deleteProperty(globalThis, "SharedWorker");
  else {
    globalThis.SharedWorker = class extends SharedWorker {
      constructor(address: string | URL, options?: string | WorkerOptions) {
        super(address, options);
        hear(this.port);
      }
    };
  }
  globalThis.Worker = class extends Worker {
    constructor(address: string | URL, options?: WorkerOptions) {
      super(address, options);
      hear(this);
    }
  };
  // What is copied must be read without the permission to read the clipboard, which the page has not.
  const { clipboard } = navigator as Partial<Navigator>;
  // An empty page has none.
  if (clipboard !== undefined)
    clipboard.writeText = (text) => {
      seen.copied.push(text);
      return Promise.resolve();
    };
}

/** The document with the values of its inputs, titles, history, cookies and all storage of the origin. */
async function traces(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const databases = await Promise.all(
      (await indexedDB.databases()).map(async ({ name = "" }) => {
        const database = await new Promise<IDBDatabase>((resolve, reject) => {
          const opening = indexedDB.open(name);
          opening.onsuccess = () => resolve(opening.result);
          opening.onerror = () => reject(new Error(name));
        });
        const values = await Promise.all(
          [...database.objectStoreNames].map(
            (store) =>
              new Promise<unknown>((resolve) => {
                const request = database.transaction(store).objectStore(store).getAll();
                request.onsuccess = () => resolve(request.result);
              }),
          ),
        );
        database.close();
        return [name, values];
      }),
    );
    const inputs = [...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea")];
    return JSON.stringify([
      document.documentElement.outerHTML,
      inputs.map(({ value }) => value),
      [document.title, location.href, history.state, document.cookie],
      [Object.entries(localStorage), Object.entries(sessionStorage), await caches.keys(), databases],
    ]);
  });
}

/** Stores a picture of the page in the folder of COFFER_PICTURES, if there is one. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["COFFER_PICTURES"];
  if (folder === undefined) return;
  const height = await page.evaluate(() => document.querySelector(".shell")?.scrollHeight ?? 0);
  await page.setViewportSize({ width: 1280, height: Math.min(Math.max(height, 800), 1600) });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** The rules of WCAG 2.2 AA that a page breaks, in each of the three colour schemes and at two widths. */
export async function inaccessible(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.evaluate(axe);
  for (const [width, height] of [
    [320, 640],
    [1280, 800],
  ] as const)
    for (const scheme of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }] as const) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: "light", forcedColors: "none", reducedMotion: "reduce", ...scheme });
      const broken = await page.evaluate(async () => {
        // The page has just loaded axe, which TypeScript does not know of.
        const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } };
        const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
        const { violations } = await axe.run({ runOnly: { type: "tag", values: tags } });
        const wide = document.documentElement.scrollWidth > innerWidth ? ["wider than the window"] : [];
        return [...wide, ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)];
      });
      found.push(...broken.map((each) => `${JSON.stringify(scheme)} ${width}: ${each}`));
    }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
  return found;
}

interface AxeResult {
  violations: { id: string; nodes: { html: string }[] }[];
}
