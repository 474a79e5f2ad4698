import { useEffect, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { RecordDetail, RecordField } from "../../../protocol/records.ts";
import type { RecordSummary } from "../../../protocol/session.ts";
import { kindOf } from "../../../record-fields.ts";
import { copy } from "../../copy.ts";
import { momentOf } from "../../dates.ts";
import { explain } from "../../explain.ts";
import { fieldName } from "../../field-name.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { CodeView } from "../../parts/code-view.tsx";
import { Problem } from "../../parts/problem.tsx";
import { toast } from "../../parts/toast.tsx";
import { go } from "../../router.ts";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { EditRecord } from "./edit-record.tsx";

interface RecordProps {
  record: RecordSummary;
  editing: boolean;
  setEditing: (editing: boolean) => void;
}

/** Screen 5: one record. Secrets are read from the worker when the person asks for them. */
export function RecordScreen({ record, editing, setEditing }: RecordProps) {
  const [detail, setDetail] = useState<RecordDetail | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [removing, setRemoving] = useState(false);
  const { id, name, updatedAt } = record;
  const vault = state.value.vaults.find((each) => each.id === record.vaultId);
  const mayWrite = vault !== undefined && vault.permission !== "read";

  useEffect(() => {
    let current = true;
    call("readRecord", id).then(
      (read) => current && setDetail(read),
      (error: unknown) => current && setProblem(explain(error)),
    );
    return () => {
      current = false;
    };
    // A change from elsewhere has another time.
  }, [id, updatedAt]);

  return (
    <article>
      <div class="record-head">
        <button class="bare back" aria-label={m.back} onClick={() => go({ openId: null })}>
          <Icon name="back" />
        </button>
        <h2 tabIndex={-1}>{name === "" ? m.untitled : name}</h2>
        {mayWrite && !editing && (
          <>
            <button onClick={() => setEditing(true)}>{m.edit}</button>
            <button class="danger" onClick={() => setRemoving(true)}>
              {m.remove}
            </button>
          </>
        )}
      </div>
      <p class="hint">
        {vault?.name} · {m.changedAt(momentOf(updatedAt))}
      </p>
      {!mayWrite && <p class="hint">{m.readOnly}</p>}
      <Problem text={problem} />
      {detail !== null && editing && <EditRecord detail={detail} onDone={() => setEditing(false)} />}
      {detail !== null && !editing && (
        <dl class="fields">
          {detail.fields.filter(isShown).map((field) => (
            <FieldView key={field.key} record={detail} field={field} />
          ))}
        </dl>
      )}
      {removing && <RemoveDialog record={record} onClose={() => setRemoving(false)} />}
    </article>
  );
}

/** The name is the heading; the kinds of the person's own fields are for programs. */
function isShown({ key }: RecordField): boolean {
  return key !== "name" && !key.startsWith("custom_type.");
}

function FieldView({ record, field: { key, value, secret } }: { record: RecordDetail; field: RecordField }) {
  const [revealed, setRevealed] = useState<string | null>(null);
  const name = fieldName(key);
  const kind = kindOf(record.type, key, secret);
  const reveal = (): Promise<string> => call("reveal", { id: record.id, key });
  if (kind === "code") return <CodeView id={record.id} />;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class={secret ? "value mono" : "value"}>
          {secret && revealed === null ? <span aria-label={m.hidden}>••••••••</span> : (revealed ?? value)}
        </span>
        <span class="buttons">
          {secret && (
            <button
              aria-label={`${revealed === null ? m.show : m.hide}: ${name}`}
              onClick={() => {
                if (revealed !== null) setRevealed(null);
                else reveal().then(setRevealed, (error: unknown) => toast(explain(error)));
              }}
            >
              {revealed === null ? m.show : m.hide}
            </button>
          )}
          {kind === "address" && /^https?:\/\//i.test(value) && (
            <a class="button" href={value} target="_blank" rel="noopener noreferrer" aria-label={`${m.open}: ${name}`}>
              {m.open}
            </a>
          )}
          <button
            aria-label={`${m.copy}: ${name}`}
            onClick={() => void copy(name, () => (secret ? reveal() : Promise.resolve(value)))}
          >
            {m.copy}
          </button>
        </span>
      </dd>
    </div>
  );
}

function RemoveDialog({ record: { id, name }, onClose }: { record: RecordSummary; onClose: () => void }) {
  const { busy, problem, run } = useAction();
  const remove = (): void =>
    run(async () => {
      await call("removeRecord", id);
      toast(m.removed);
      onClose();
      go({ openId: null });
    });
  return (
    <Dialog title={m.removeTitle} onClose={onClose}>
      <p>{m.removeText(name === "" ? m.untitled : name)}</p>
      <Problem text={problem} />
      <p class="buttons">
        <button class="danger" disabled={busy} onClick={remove}>
          {m.remove}
        </button>
        <button onClick={onClose}>{m.cancel}</button>
      </p>
    </Dialog>
  );
}
