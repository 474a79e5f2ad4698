import { m } from "../../messages/messages.ts";
import { Page } from "../parts/page.tsx";
import { workerPath } from "../worker-client.ts";

/** Both from the build. */
declare const __SOURCES__: string;
declare const __VERSION__: string;

/** Screen 22: what runs in this browser, and how to compare it with a release. */
export function About() {
  return (
    <Page title={m.about}>
      <p>{m.aboutWhy}</p>
      <p>
        <code>{m.aboutCommand(location.origin)}</code>
      </p>
      <dl class="fields">
        <div>
          <dt>{m.aboutVersion}</dt>
          <dd>
            <span class="value">{__VERSION__}</span>
          </dd>
        </div>
        <div>
          <dt>{m.aboutSources}</dt>
          <dd>
            <span class="value mono">{__SOURCES__}</span>
          </dd>
        </div>
        <div>
          <dt>{m.aboutFiles}</dt>
          <dd>
            <span class="value mono">{loadedFiles().join(" ")}</span>
          </dd>
        </div>
      </dl>
    </Page>
  );
}

/** The page's own scripts and styles, and its worker. Each name has a hash of the content. */
function loadedFiles(): string[] {
  const linked = [
    ...document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>(
      "script, link[rel=stylesheet], link[rel=modulepreload]",
    ),
  ];
  const addresses = linked.map((element) => (element instanceof HTMLScriptElement ? element.src : element.href));
  return [...addresses.map((address) => new URL(address).pathname), workerPath];
}
