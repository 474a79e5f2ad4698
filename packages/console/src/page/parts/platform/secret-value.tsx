import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { notationOf } from "../../../notation.ts";
import type { SecretView } from "../../../protocol/folders.ts";
import { copy } from "../../copy.ts";
import { explain } from "../../explain.ts";
import { call } from "../../store.ts";
import { toast } from "../toast.tsx";

interface ValueProps {
  /** The name of its folder. */
  folder: string;
  secret: SecretView;
  field: string;
}

/** A field of a secret: hidden, shown, copied, and its name for programs. */
export function SecretValue({ folder, secret: { uid, title }, field }: ValueProps) {
  const [shown, setShown] = useState<string | null>(null);
  const label = `${title}: ${field}`;
  const value = (): Promise<string> => call("secretValue", { uid, field });
  const toggle = (): void => {
    if (shown !== null) setShown(null);
    else value().then(setShown, (error: unknown) => toast(explain(error)));
  };
  const notation = notationOf(folder, title, field);
  return (
    <div>
      <dt>{field}</dt>
      <dd>
        <span class="value mono">{shown ?? <span aria-label={m.hidden}>••••••••</span>}</span>
        <span class="buttons">
          <button aria-label={`${shown === null ? m.show : m.hide}: ${label}`} onClick={toggle}>
            {shown === null ? m.show : m.hide}
          </button>
          <button aria-label={`${m.copy}: ${label}`} onClick={() => void copy(label, value)}>
            {m.copy}
          </button>
          <button
            aria-label={`${m.copyNotation}: ${label}`}
            onClick={() => void copy(m.notation, () => Promise.resolve(notation))}
          >
            {m.copyNotation}
          </button>
        </span>
      </dd>
    </div>
  );
}
