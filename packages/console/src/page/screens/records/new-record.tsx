import { useId, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { VaultSummary } from "../../../protocol/session.ts";
import { customKind, customPrefix, isSecret, type KnownType, recordTypes } from "../../../record-fields.ts";
import { AddField } from "../../parts/records/add-field.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import { FieldInputs } from "../../parts/records/field-inputs.tsx";
import { toast } from "../../parts/toast.tsx";
import { go } from "../../router.ts";
import { call, shownVault } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { inputSaved, useUnsaved } from "../../use-unsaved.ts";

const types = Object.keys(recordTypes) as KnownType[]; // its own keys

export function NewRecord({ vaults, onClose }: { vaults: readonly VaultSummary[]; onClose: () => void }) {
  const chosen = vaults.find(({ id }) => id === shownVault.value) ?? vaults[0];
  const [vaultId, setVaultId] = useState(chosen?.id ?? "");
  const [type, setType] = useState<KnownType>("login");
  const [values, setValues] = useState<Record<string, string>>({ name: "" });
  const [focusedKey, setFocusedKey] = useState("name");
  const { busy, problem, run } = useAction();
  const [vaultField, typeField] = [useId(), useId()];
  useUnsaved(Object.values(values).some((value) => value !== ""));
  const added = Object.keys(values).filter((key) => key.startsWith(customPrefix));
  const keys = ["name", ...Object.keys(recordTypes[type]), ...added];
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const filled = keys.filter((key) => (values[key] ?? "") !== "");
      const kinds = filled.filter((key) => key.startsWith(customPrefix)).map(customKind);
      const entries = Object.entries(values).filter(([key]) => filled.includes(key) || kinds.includes(key));
      const fields = Object.fromEntries(entries);
      const { id } = await call("createRecord", { vaultId, type, fields });
      inputSaved();
      toast(m.saved);
      onClose();
      go({ openId: id });
    });
  };
  return (
    <Dialog title={m.newRecord} onClose={onClose}>
      <form onSubmit={submit}>
        <div class="pair">
          <div class="field">
            <label for={typeField}>{m.kind}</label>
            <select id={typeField} value={type} onChange={(event) => setType(event.currentTarget.value as KnownType)}>
              {types.map((each) => (
                <option key={each} value={each}>
                  {m.types[each]}
                </option>
              ))}
            </select>
          </div>
          <div class="field">
            <label for={vaultField}>{m.vault}</label>
            <select id={vaultField} value={vaultId} onChange={(event) => setVaultId(event.currentTarget.value)}>
              {vaults.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        </div>
        <FieldInputs
          type={type}
          keys={keys}
          values={values}
          secrets={Object.fromEntries(added.map((key) => [key, isSecret(key, values)]))}
          focusedKey={focusedKey}
          onChange={(key, value) => setValues((before) => ({ ...before, [key]: value }))}
        />
        <AddField
          values={values}
          onAdd={(given, key) => {
            setValues({ ...values, ...given });
            setFocusedKey(key);
          }}
        />
        <Problem text={problem} />
        <p class="buttons">
          <button class="primary" disabled={busy}>
            {m.save}
          </button>
          <button type="button" onClick={onClose}>
            {m.cancel}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
