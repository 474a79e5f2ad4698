import { useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { Shared } from "../../protocol/sharing.ts";
import { call } from "../store.ts";
import { useAction } from "../use-action.ts";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { Problem } from "./problem.tsx";
import { Question } from "./question.tsx";
import { toast } from "./toast.tsx";

interface SettingsProps {
  shared: Shared & { name: string };
  /** The loss, in a sentence. */
  lost: string;
  onClose: () => void;
  /** Called after it has another name or is gone. */
  onChanged: () => void | Promise<void>;
}

/** Renames or deletes a folder or vault. */
export function SettingsDialog({ shared: { kind, id, name: before }, lost, onClose, onChanged }: SettingsProps) {
  const [name, setName] = useState(before);
  const [asking, setAsking] = useState(false);
  const { busy, problem, run } = useAction();
  const act = (work: () => Promise<unknown>, done: string): void =>
    run(async () => {
      await work();
      await onChanged();
      toast(done);
      onClose();
    });
  const submit = (event: Event): void => {
    event.preventDefault();
    act(() => call("rename", { kind, id, name: name.trim() }), m.saved);
  };
  return (
    <Dialog title={m.settingsOf(before)} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={m.fields.name} value={name} onInput={setName} required focused />
        <p class="buttons">
          <button class="primary" disabled={busy}>
            {m.rename}
          </button>
          <button type="button" onClick={onClose}>
            {m.cancel}
          </button>
        </p>
      </form>
      {asking ? (
        <Question
          title={m.removeOf(before)}
          text={lost}
          action={m.remove}
          busy={busy}
          onYes={() => act(() => call("remove", { kind, id }), m.removed)}
          onNo={() => setAsking(false)}
        />
      ) : (
        <p class="buttons apart">
          <button class="danger" disabled={busy} onClick={() => setAsking(true)}>
            {m.removeOf(before)}
          </button>
        </p>
      )}
      <Problem text={problem} />
    </Dialog>
  );
}
