import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { customKind, customPrefix } from "../../../record-fields.ts";
import { Field } from "../field.tsx";

interface AddProps {
  values: Readonly<Record<string, string>>;
  /** `added`: the field without a value, and its kind when it is hidden. `key`: that of the field. */
  onAdd: (added: Record<string, string>, key: string) => void;
}

/** Adds a field of the person's own to a record. It is part of the record's form. */
export function AddField({ values, onAdd }: AddProps) {
  const [name, setName] = useState<string | null>(null);
  const [isHidden, setHidden] = useState(false);
  if (name === null)
    return (
      <p class="buttons">
        <button type="button" onClick={() => setName("")}>
          {m.addField}
        </button>
      </p>
    );
  const key = `${customPrefix}${name.trim()}`;
  const isTaken = Object.hasOwn(values, key);
  const add = (): void => {
    if (name.trim() === "" || isTaken) return;
    onAdd({ [key]: "", ...(isHidden ? { [customKind(key)]: "hidden" } : {}) }, key);
    setName(null);
    setHidden(false);
  };
  // Enter adds the field, and does not save the record.
  const enter = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    add();
  };
  return (
    <fieldset onKeyDown={enter}>
      <legend>{m.addField}</legend>
      <Field
        label={m.addedFieldName}
        value={name}
        onInput={setName}
        problem={isTaken ? m.addedFieldTaken : null}
        focused
      />
      <label class="choice">
        <input type="checkbox" checked={isHidden} onChange={() => setHidden(!isHidden)} />
        {m.addedFieldHidden}
      </label>
      <p class="buttons">
        <button type="button" onClick={add}>
          {m.addedFieldAdd}
        </button>
        <button type="button" onClick={() => setName(null)}>
          {m.cancel}
        </button>
      </p>
    </fieldset>
  );
}
