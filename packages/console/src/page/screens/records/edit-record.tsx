import { useEffect, useId, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { Changes, Conflict, RecordDetail } from "../../../protocol/records.ts";
import { customKind, customPrefix, isSecret, type KnownType, recordTypes } from "../../../record-fields.ts";
import { explain } from "../../explain.ts";
import { fieldName } from "../../field-name.ts";
import { AddField } from "../../parts/records/add-field.tsx";
import { FieldInputs } from "../../parts/records/field-inputs.tsx";
import { Problem } from "../../parts/problem.tsx";
import { toast } from "../../parts/toast.tsx";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useUnsaved } from "../../use-unsaved.ts";

interface EditProps {
  detail: RecordDetail;
  onDone: () => void;
}

/** Changes a record. Only the fields that the person changed are sent to the worker. */
export function EditRecord({ detail, onDone }: EditProps) {
  // The record as it was when the person began; a change from elsewhere is a conflict.
  const [begun] = useState(detail);
  const [before, setBefore] = useState<Record<string, string> | null>(null);
  const [values, setValues] = useState<Record<string, string>>({});
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [focusedKey, setFocusedKey] = useState("name");
  const { busy, problem, run } = useAction();
  const { id, type, fields } = begun;
  useUnsaved(before !== null && Object.keys(changesOf(before, values)).length > 0);

  useEffect(() => {
    const reading = fields.map(async ({ key, value, secret }) => {
      return [key, secret ? await call("reveal", { id, key }) : value] as const;
    });
    Promise.all(reading).then(
      (entries) => {
        setBefore(Object.fromEntries(entries));
        setValues(Object.fromEntries(entries));
      },
      (error: unknown) => setFailure(explain(error)),
    );
  }, [id]);

  const save = (changes: Changes, updatedAt: string): void =>
    run(async () => {
      if (Object.keys(changes).length > 0) {
        const saved = await call("saveRecord", { id, changes, updatedAt });
        if (saved.conflict !== null) {
          setConflict(saved.conflict);
          return;
        }
      }
      toast(m.saved);
      onDone();
    });
  const submit = (event: Event): void => {
    event.preventDefault();
    save(changesOf(before ?? {}, values), begun.updatedAt);
  };

  if (before === null) return <Problem text={failure} />;
  if (conflict !== null)
    return <ConflictForm conflict={conflict} mine={changesOf(before, values)} onSave={save} onCancel={onDone} />;
  const known = Object.hasOwn(recordTypes, type) ? Object.keys(recordTypes[type as KnownType]) : []; // its own key
  const others = Object.keys(values).filter((key) => !key.startsWith("custom_type."));
  const secrets = fields.map(({ key, secret }) => [key, secret] as const);
  const added = others.filter((key) => before[key] === undefined);
  return (
    <form onSubmit={submit}>
      <FieldInputs
        type={type}
        keys={[...new Set(["name", ...known, ...others])]}
        values={values}
        secrets={Object.fromEntries([...secrets, ...added.map((key) => [key, isSecret(key, values)] as const)])}
        focusedKey={focusedKey}
        onChange={(key, value) => setValues((all) => ({ ...all, [key]: value }))}
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
        <button type="button" onClick={onDone}>
          {m.cancel}
        </button>
      </p>
    </form>
  );
}

function changesOf(before: Readonly<Record<string, string>>, values: Readonly<Record<string, string>>): Changes {
  // A field without a value is not stored, and neither is its kind.
  const kinds = Object.keys(values)
    .filter((key) => key.startsWith(customPrefix) && values[key] === "")
    .map((key) => [customKind(key), ""] as const);
  const all = { ...values, ...Object.fromEntries(kinds) };
  const changed = Object.entries(all).filter(([key, value]) => value !== (before[key] ?? ""));
  return Object.fromEntries(changed.map(([key, value]) => [key, value === "" ? null : value]));
}

interface ConflictProps {
  conflict: Conflict;
  mine: Changes;
  onSave: (changes: Changes, updatedAt: string) => void;
  onCancel: () => void;
}

/** Theirs or mine, for each field that the person changed and that now differs. */
function ConflictForm({ conflict: { theirs, updatedAt }, mine, onSave, onCancel }: ConflictProps) {
  const keys = Object.keys(mine).filter((key) => (theirs[key] ?? null) !== mine[key]);
  const [keepMine, setKeepMine] = useState<Record<string, boolean>>(Object.fromEntries(keys.map((key) => [key, true])));
  const group = useId();
  const submit = (event: Event): void => {
    event.preventDefault();
    onSave(Object.fromEntries(keys.filter((key) => keepMine[key]).map((key) => [key, mine[key] ?? null])), updatedAt);
  };
  return (
    <form onSubmit={submit}>
      <h3>{m.conflictTitle}</h3>
      <p>{m.conflictText}</p>
      {keys.map((key) => (
        <fieldset key={key}>
          <legend>{fieldName(key)}</legend>
          {([true, false] as const).map((isMine) => (
            <label key={String(isMine)} class="choice">
              <input
                type="radio"
                name={`${group}-${key}`}
                checked={keepMine[key] === isMine}
                onChange={() => setKeepMine((all) => ({ ...all, [key]: isMine }))}
              />
              {isMine ? m.mine : m.theirs}: <span class="mono">{(isMine ? mine[key] : theirs[key]) ?? m.empty}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <p class="buttons">
        <button class="primary">{m.save}</button>
        <button type="button" onClick={onCancel}>
          {m.cancel}
        </button>
      </p>
    </form>
  );
}
