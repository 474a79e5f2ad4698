import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import { go } from "../router.ts";
import { HelpDialog } from "../screens/help.tsx";
import { Header } from "./header.tsx";
import { Problem } from "./problem.tsx";

interface PageProps {
  title: string;
  /** Why the page has nothing to show; null when it has. */
  problem?: string | null;
  wide?: boolean;
  children: ComponentChildren;
}

/** A screen beside the records, with the way back to them. */
export function Page({ title, problem = null, wide = false, children }: PageProps) {
  const [help, setHelp] = useState(false);
  return (
    <div class="shell single">
      <Header onHelp={() => setHelp(true)} />
      <main class={wide ? "sheet-page wide" : "sheet-page"}>
        <p>
          <button onClick={() => go({ path: "/" })}>{m.toRecords}</button>
        </p>
        <h1>{title}</h1>
        <Problem text={problem} />
        {children}
      </main>
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
  );
}
