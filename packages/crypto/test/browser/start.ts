import { chromium, type Page } from "playwright-core";
import { locateBrowser } from "./locate.ts";
import { serveSources } from "./serve.ts";

export interface StartedBrowser {
  /** Where the sources are served: the origin of the pages. */
  url: string;
  /** Opens an empty page in its own context. */
  openPage(): Promise<Page>;
}

/** Starts a browser and a server of the sources; both end with the test. */
export async function startBrowser(t: { teardown(work: () => Promise<void>): unknown }): Promise<StartedBrowser> {
  const { executablePath, libraryPath } = await locateBrowser();
  const server = await serveSources();
  t.teardown(() => server.close());
  const environment = libraryPath === undefined ? {} : { env: { ...process.env, LD_LIBRARY_PATH: libraryPath } };
  // A sandbox needs privileges that a container lacks; the browser loads these sources alone.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], ...environment });
  t.teardown(() => browser.close());
  return {
    url: server.url,
    async openPage() {
      const page = await browser.newPage();
      await page.goto(server.url);
      return page;
    },
  };
}
