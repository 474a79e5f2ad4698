import { useEffect, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { chooseOrganization, organizations, refreshOrganizations } from "../../organizations.ts";
import { state } from "../../store.ts";
import { Choice } from "../choice.tsx";

/** Says which organization the screen is about, where the person is in several, and changes it. */
export function OrganizationChoice() {
  const { organizations: all, current } = organizations.value;
  const { organization } = state.value.settings;
  const [round, setRound] = useState(0);
  useEffect(() => {
    // Without a connection the choice stays as it was.
    refreshOrganizations().catch(() => undefined);
  }, [organization]);
  if (all.length < 2) return null;
  return (
    <p class="buttons organization-choice">
      <span>{m.organizationLabel}</span>
      <Choice
        key={round}
        label={m.organizationLabel}
        value={organization === "" ? (current ?? "") : organization}
        options={all.map(({ id, name }) => [id, name])}
        onChoose={(id) => {
          // The choice shows the one before again.
          if (!chooseOrganization(id)) setRound(round + 1);
        }}
      />
    </p>
  );
}
