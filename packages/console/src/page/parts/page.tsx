import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { PagePath } from "../../paths.ts";
import { go, place } from "../router.ts";
import { HelpDialog } from "../screens/help.tsx";
import { Header } from "./header.tsx";
import { Heading } from "./heading.tsx";
import { NoOrganization } from "./organization/no-organization.tsx";
import { OrganizationChoice } from "./organization/organization-choice.tsx";
import { Problem } from "./problem.tsx";
import { Tabs } from "./tabs.tsx";

/** Screens that belong together: each names the others. */
const groups: readonly (readonly (readonly [path: PagePath, label: string])[])[] = [
  [
    ["/folders", m.folders],
    ["/matrix", m.matrix],
    ["/machines", m.machines],
  ],
  [
    ["/people", m.people],
    ["/audit", m.audit],
    ["/destinations", m.destinations],
    ["/organization", m.organizationLabel],
  ],
  [
    ["/account", m.account],
    ["/trust", m.trust],
    ["/about", m.about],
  ],
];

/** The screens about one organization. */
const aboutOrganization: readonly PagePath[] = [
  ...(["/to-do", "/folders", "/matrix", "/machines"] as const),
  ...(["/people", "/audit", "/destinations", "/organization", "/trust"] as const),
];

interface PageProps {
  title: string;
  /** Why the page has nothing to show; null when it has. `noOrganization` comes with the next step. */
  problem?: string | null;
  wide?: boolean;
  /** The way back, where it leads to a list of the screen and not to the records. */
  back?: readonly [name: string, run: () => void];
  children: ComponentChildren;
}

/** A screen beside the records, with the way back to them or to its list. */
export function Page({ title, problem = null, wide = false, back, children }: PageProps) {
  const [help, setHelp] = useState(false);
  const [name, goBack] = back ?? [m.toRecords, () => go({ path: "/" })];
  return (
    <div class="shell single">
      <Header onHelp={() => setHelp(true)} />
      <main class={wide ? "sheet-page wide" : "sheet-page"}>
        <p>
          <button onClick={goBack}>{name}</button>
        </p>
        <Neighbours />
        {aboutOrganization.includes(place.value.path) && <OrganizationChoice />}
        <Heading text={title} isScreen={back === undefined} />
        {problem === m.noOrganization ? <NoOrganization /> : <Problem text={problem} />}
        {children}
      </main>
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
  );
}

/** The screens of the group that this one is in. */
function Neighbours() {
  const { path } = place.value;
  const group = groups.find((each) => each.some(([own]) => own === path));
  if (group === undefined) return null;
  return <Tabs label={m.neighbours} tabs={group} current={path} onChoose={(chosen) => go({ path: chosen })} />;
}
