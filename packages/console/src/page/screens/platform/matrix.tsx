import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { notationOf } from "../../../notation.ts";
import type { MatrixRow, MatrixView } from "../../../protocol/folders.ts";
import { copy } from "../../copy.ts";
import { explain } from "../../explain.ts";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { SecretField } from "../../parts/secret-field.tsx";
import { toast } from "../../parts/toast.tsx";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";
import { useUnsaved } from "../../use-unsaved.ts";

/** A cell that the person has opened. */
interface Opened {
  row: MatrixRow;
  /** The place of the folder. */
  place: number;
}

/** Screen 10: the secrets of all folders side by side: equal, different, missing. */
export function Matrix() {
  const { view, show, problem } = useLoad(() => call("matrix"), [], { not_found: m.noOrganization });
  const [opened, setOpened] = useState<Opened | null>(null);
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const rows = view?.rows.filter((row) => !onlyDifferent || isDifferent(row)) ?? [];
  return (
    <Page title={m.matrix} problem={problem} wide>
      {view !== null && view.rows.length === 0 && <p>{m.matrixEmpty}</p>}
      {view !== null && view.rows.length > 0 && (
        <>
          <p class="hint">{m.matrixWhy}</p>
          <label class="choice">
            <input type="checkbox" checked={onlyDifferent} onChange={() => setOnlyDifferent(!onlyDifferent)} />
            {m.onlyDifferent}
          </label>
          {/* It scrolls by keyboard too. */}
          <div class="matrix" role="region" aria-label={m.matrix} tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{m.secretTitle}</th>
                  {view.folders.map(({ id, name }) => (
                    <th key={id} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <Row
                    key={`${row.title}\n${row.field}\n${String(row.copy)}`}
                    row={row}
                    folders={view.folders}
                    onOpen={(place) => setOpened({ row, place })}
                  />
                ))}
              </tbody>
            </table>
          </div>
          <p>
            <code class="command">{m.matrixCommand}</code>
          </p>
        </>
      )}
      {view !== null && <Paste folders={view.folders.filter(({ mayChange }) => mayChange)} onChange={show} />}
      {view !== null && opened !== null && (
        <Cell
          view={view}
          opened={opened}
          onClose={() => setOpened(null)}
          onChange={(changed) => {
            show(changed);
            setOpened(null);
            toast(m.saved);
          }}
        />
      )}
    </Page>
  );
}

/** Whether a folder lacks the field, or two have other values. */
function isDifferent({ cells }: MatrixRow): boolean {
  return cells.some((cell) => cell === null || cell.value !== 0);
}

interface RowProps {
  row: MatrixRow;
  folders: MatrixView["folders"];
  onOpen: (place: number) => void;
}

function Row({ row, folders, onOpen }: RowProps) {
  const { title, field, cells } = row;
  return (
    <tr>
      <th scope="row">
        {title}
        <span class="hint"> {field}</span>
      </th>
      {folders.map(({ id, name, mayChange }, place) => {
        const state = stateOf(row, place);
        const isMissing = cells[place] == null;
        return (
          <td key={id} class={isMissing ? "missing" : ""}>
            <button
              class="quiet"
              disabled={isMissing && !mayChange}
              aria-label={m.cellOf(title, field, name, state)}
              onClick={() => onOpen(place)}
            >
              {state}
            </button>
          </td>
        );
      })}
    </tr>
  );
}

/** Equal values have one letter; a row with one value for all needs none, and a single value has no equal. */
function stateOf({ cells }: MatrixRow, place: number): string {
  const cell = cells[place] ?? null;
  if (cell === null) return m.missing;
  if (cells.filter((each) => each !== null).length === 1) return m.cellOnly;
  const isOne = cells.every((each) => each === null || each.value === 0);
  return isOne ? m.cellEqual : m.cellState(String.fromCodePoint(65 + (cell.value % 26)));
}

interface CellProps {
  view: MatrixView;
  opened: Opened;
  onClose: () => void;
  onChange: (view: MatrixView) => void;
}

/** One field in one folder: shows, copies and sets it, or takes it from another folder. */
function Cell({ view: { folders }, opened: { row, place }, onClose, onChange }: CellProps) {
  const { title, field, cells } = row;
  const [shown, setShown] = useState<string | null>(null);
  const [value, setValue] = useState("");
  const { busy, problem, run } = useAction();
  const folder = folders[place];
  const cell = cells[place] ?? null;
  if (folder === undefined) return null;
  const read = (uid: string): Promise<string> => call("secretValue", { uid, field });
  const target = { folderId: folder.id, title, field };
  const others = cells.flatMap((other, at) => {
    const name = folders[at]?.name;
    return other === null || at === place || other.value === cell?.value || name === undefined
      ? []
      : [{ uid: other.uid, name }];
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => onChange(await call("setCell", { ...target, value })));
  };
  return (
    <Dialog title={`${folder.name}: ${title}: ${field}`} onClose={onClose}>
      {cell !== null && (
        <p class="buttons">
          <span class="value mono">{shown ?? <span aria-label={m.hidden}>••••••••</span>}</span>
          <button
            onClick={() =>
              shown === null
                ? void read(cell.uid).then(setShown, (error: unknown) => toast(explain(error)))
                : setShown(null)
            }
          >
            {shown === null ? m.show : m.hide}
          </button>
          <button onClick={() => void copy(`${title}: ${field}`, () => read(cell.uid))}>{m.copy}</button>
        </p>
      )}
      {folder.mayChange && (
        <form onSubmit={submit}>
          <SecretField label={m.newValue} value={value} onInput={setValue} required focused />
          <p class="buttons">
            <button class="primary" disabled={busy}>
              {m.save}
            </button>
            {others.map(({ uid, name }) => (
              <button
                key={uid}
                type="button"
                disabled={busy}
                onClick={() => run(async () => onChange(await call("copyValue", { uid, ...target })))}
              >
                {m.takeFrom(name)}
              </button>
            ))}
          </p>
        </form>
      )}
      <Problem text={problem} />
      <p class="buttons">
        <button onClick={onClose}>{m.close}</button>
        <code class="command">{`coffer set ${notationOf(folder.name, title, field)}`}</code>
      </p>
    </Dialog>
  );
}

interface PasteProps {
  folders: MatrixView["folders"];
  onChange: (view: MatrixView) => void;
}

function Paste({ folders, onChange }: PasteProps) {
  const [chosen, setChosen] = useState("");
  const [text, setText] = useState("");
  const [wrongLine, setWrongLine] = useState<number | null>(null);
  const { busy, problem, run } = useAction();
  useUnsaved(text !== "");
  const folderId = folders.find(({ id }) => id === chosen)?.id ?? folders[0]?.id;
  if (folderId === undefined) return null;
  const submit = (event: Event): void => {
    event.preventDefault();
    setWrongLine(null);
    run(async () => {
      const pasted = await call("pasteEnv", { folderId, text });
      if ("wrongLine" in pasted) {
        setWrongLine(pasted.wrongLine);
        return;
      }
      onChange(pasted.view);
      setText("");
      toast(m.pasteDone(pasted.count));
    });
  };
  return (
    <section aria-label={m.pasteTitle}>
      <h2>{m.pasteTitle}</h2>
      <form onSubmit={submit}>
        <p class="hint">{m.pasteWhy}</p>
        <Choice
          label={m.pasteInto}
          value={folderId}
          options={folders.map(({ id, name }) => [id, name])}
          onChoose={setChosen}
        />
        <Field
          label={m.pasteText}
          value={text}
          onInput={setText}
          problem={wrongLine === null ? null : m.pasteWrong(wrongLine)}
          lines
          required
          mono
        />
        <Problem text={problem} />
        <p class="buttons">
          <button disabled={busy}>{m.pasteAction}</button>
        </p>
      </form>
    </section>
  );
}
