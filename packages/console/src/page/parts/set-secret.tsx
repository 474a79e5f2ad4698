import { useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { FoldersView, SecretView } from "../../protocol.ts";
import { call } from "../store.ts";
import { useAction } from "../use-action.ts";
import { Field } from "./field.tsx";
import { Problem } from "./problem.tsx";
import { toast } from "./toast.tsx";

interface SetProps {
  folderId: string;
  /** The secret whose field is set; without it the form asks for a title. */
  secret?: SecretView;
  onChange: (view: FoldersView) => void;
}

/** Sets one field of a secret. */
export function SetSecret({ folderId, secret, onChange }: SetProps) {
  const [title, setTitle] = useState("");
  const [field, setField] = useState(secret?.fields[0] ?? "password");
  const [value, setValue] = useState("");
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      // A uid names one secret, where a title may name several.
      const named = secret?.uid ?? title.trim();
      onChange(await call("setSecret", { folderId, title: named, field: field.trim(), value }));
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
      <Field label={m.secretValue} type="password" value={value} onInput={setValue} required mono />
      <Problem text={problem} />
      <p class="buttons">
        <button class="primary" disabled={busy}>
          {m.save}
        </button>
        <code class="command">{m.setSecretCommand}</code>
      </p>
    </form>
  );
}
