import { useId, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { OrganizationChoice } from "../../parts/organization/organization-choice.tsx";
import { Problem } from "../../parts/problem.tsx";
import { go } from "../../router.ts";
import { call, shownVault } from "../../store.ts";
import { useAction } from "../../use-action.ts";

export function NewVault({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [type, setType] = useState<"personal" | "shared">("personal");
  const { busy, problem, run } = useAction({ not_found: m.noOrganization });
  const group = useId();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const { id } = await call("createVault", { name: name.trim(), type });
      shownVault.value = id;
      onClose();
    });
  };
  return (
    <Dialog title={m.newVault} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={m.vaultName} value={name} onInput={setName} required focused />
        <fieldset>
          <legend>{m.vaultKind}</legend>
          {(["personal", "shared"] as const).map((each) => (
            <label key={each} class="choice">
              <input type="radio" name={group} checked={type === each} onChange={() => setType(each)} />
              {each === "personal" ? m.personalVault : m.sharedVault}
            </label>
          ))}
          <p class="hint">{m.vaultKindStays}</p>
        </fieldset>
        {type === "shared" && <OrganizationChoice />}
        <Problem text={problem} />
        <p class="buttons">
          {problem === m.noOrganization && (
            <button type="button" onClick={() => go({ path: "/people" })}>
              {m.people}
            </button>
          )}
          <button class="primary" disabled={busy}>
            {m.create}
          </button>
          <button type="button" onClick={onClose}>
            {m.cancel}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
