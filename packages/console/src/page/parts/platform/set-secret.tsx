import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { notationOf } from "../../../notation.ts";
import type { FoldersView, SecretView } from "../../../protocol/folders.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useUnsaved } from "../../use-unsaved.ts";
import { Field } from "../field.tsx";
import { Problem } from "../problem.tsx";
import { SecretField } from "../secret-field.tsx";
import { toast } from "../toast.tsx";

interface SetProps {
  folder: { id: string; name: string };
  /** The secret whose field is set; without it the form asks for a title. */
  secret?: SecretView;
  /** The secrets of the folder, where the form asks for a title. */
  secrets?: readonly SecretView[];
  onChange: (view: FoldersView) => void;
}

/** Sets one field of a secret. */
export function SetSecret({ folder, secret, secrets = [], onChange }: SetProps) {
  const [title, setTitle] = useState("");
  const [field, setField] = useState(secret?.fields[0] ?? "password");
  const [value, setValue] = useState("");
  const { busy, problem, run } = useAction();
  useUnsaved(value !== "");
  const present = secret ?? secrets.find((each) => each.title === title.trim());
  const replaces = value !== "" && present?.fields.includes(field.trim()) === true;
  const named = secret?.title ?? title.trim();
  useUnsaved(value !== "");
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      // A uid names one secret, where a title may name several.
      const wish = { title: secret?.uid ?? title.trim(), field: field.trim(), value };
      onChange(await call("setSecret", { folderId: folder.id, ...wish }));
      setValue("");
      toast(m.saved);
    });
  };
  return (
    <form onSubmit={submit}>
      {secret === undefined ? <h3>{m.setSecret}</h3> : <h2>{m.setSecret}</h2>}
      <div class="pair">
        {secret === undefined && <Field label={m.secretTitle} value={title} onInput={setTitle} required />}
        <Field label={m.secretField} value={field} onInput={setField} required />
      </div>
      <SecretField
        label={m.secretValue}
        value={value}
        onInput={setValue}
        hint={replaces ? m.secretReplaces : undefined}
        required
      />
      <Problem text={problem} />
      <p class="buttons">
        <button class="primary" disabled={busy}>
          {m.save}
        </button>
        <code class="command">
          {named === "" || field.trim() === "" ? m.setSecretCommand : setCommand(folder.name, named, field.trim())}
        </code>
      </p>
    </form>
  );
}

function setCommand(folder: string, title: string, field: string): string {
  return `coffer set ${notationOf(folder, title, field)}`;
}
