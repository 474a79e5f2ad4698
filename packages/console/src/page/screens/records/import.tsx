import { useId, useRef, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { Imported, ImportView } from "../../../protocol/transfer.ts";
import { Choice } from "../../parts/choice.tsx";
import { LeftOut } from "../../parts/records/left-out.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useFirstId } from "../../use-first-id.ts";
import { ExportVault } from "./export-vault.tsx";
import { NewVault } from "./new-vault.tsx";

/**
 * Screen 9: the file of another password manager is read in the worker, shown by its names, and imported. A vault is
 * exported into such a file.
 */
export function Import() {
  const [file, setFile] = useState<File | null>(null);
  const [view, setView] = useState<ImportView | null>(null);
  const [done, setDone] = useState<Imported | null>(null);
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const [makesVault, setMakesVault] = useState(false);
  const isStopped = useRef(false);
  const reading = useAction(m.importProblems);
  const importing = useAction(m.importProblems);
  const id = useId();
  const vaults = state.value.vaults
    .filter(({ permission, problem }) => permission !== "read" && problem === null)
    .toSorted((a, b) => a.name.localeCompare(b.name));
  const [vaultId, setVaultId] = useFirstId(vaults);
  const chosen = vaults.find(({ id }) => id === vaultId) ?? vaults[0];
  const read = (event: Event): void => {
    event.preventDefault();
    if (file === null || chosen === undefined) return;
    setDone(null);
    setView(null);
    reading.run(async () => setView(await call("readFile", { file, vaultId: chosen.id })));
  };
  const send = (before: ImportView): void =>
    importing.run(async () => {
      const { plan, count: total } = before;
      isStopped.current = false;
      // A function, because the compiler does not see that the value changes.
      const goesOn = (): boolean => !isStopped.current;
      setDone(null);
      let sum: Imported = { imported: 0, failed: [], left: total };
      try {
        while (sum.left > 0 && goesOn()) {
          setProgress({ done: total - sum.left, total });
          const { imported, failed, left } = await call("importFile", plan);
          sum = { imported: sum.imported + imported, failed: [...sum.failed, ...failed], left };
        }
      } finally {
        setProgress(null);
        // What was imported before an error or a stop stays; the rest can follow.
        if (sum.left < total) setDone(sum);
        setView(sum.left === 0 ? null : restOf(before, sum));
      }
    });
  const isWrong = reading.problem !== null;
  return (
    <Page title={m.transferTitle} wide>
      <h2>{m.importTitle}</h2>
      <p>{m.importWhy}</p>
      {chosen === undefined && (
        <p>
          {m.noVaultTitle}.{" "}
          <button class="primary" onClick={() => setMakesVault(true)}>
            {m.newVault}
          </button>
        </p>
      )}
      {makesVault && <NewVault onClose={() => setMakesVault(false)} />}
      {chosen !== undefined && (
        <form onSubmit={read}>
          <p class="buttons">
            <span>{m.importInto}</span>
            <Choice
              label={m.importInto}
              value={chosen.id}
              options={vaults.map((vault) => [vault.id, vault.name])}
              disabled={importing.busy}
              onChoose={(next) => {
                setVaultId(next);
                setView(null);
              }}
            />
          </p>
          <div class="field">
            <label for={id}>{m.importFile}</label>
            <input
              id={id}
              type="file"
              required
              disabled={importing.busy}
              accept=".json,.csv,.xml,.1pux,.zip"
              aria-invalid={isWrong}
              aria-describedby={isWrong ? `${id}-hint ${id}-problem` : `${id}-hint`}
              onChange={({ currentTarget: { files } }) => {
                setFile(files?.[0] ?? null);
                setView(null);
              }}
            />
            <p class="hint" id={`${id}-hint`}>
              {m.importFormats}
            </p>
            {isWrong && (
              <p class="problem" id={`${id}-problem`} role="alert">
                {reading.problem}
              </p>
            )}
          </div>
          <p class="buttons">
            <button disabled={reading.busy || importing.busy || file === null}>
              {reading.slow ? m.importReading : m.importRead}
            </button>
            <code class="command">{m.importCommand}</code>
          </p>
        </form>
      )}
      {view !== null && (
        <section aria-label={m.importPreview}>
          <h3>{m.importPreview}</h3>
          <p>{m.importCount(view.count, view.present)}</p>
          {view.notes.map((note) => (
            <p key={note} class="hint">
              {note}
            </p>
          ))}
          <LeftOut title={m.importLeftOut} parts={view.leftOut} />
          <ul class="members" aria-label={m.importPreview}>
            {view.names.map(({ name, type }, index) => (
              <li key={index}>
                <span>{name === "" ? m.untitled : name}</span>
                <span class="hint">
                  {Object.hasOwn(m.types, type) ? m.types[type as keyof typeof m.types] : type.replaceAll("_", " ")}
                </span>
              </li>
            ))}
          </ul>
          {view.names.length < view.count && <p class="hint">{m.importMore(view.count - view.names.length)}</p>}
          {view.count > 0 && (
            <p class="buttons">
              <button class="primary" disabled={importing.busy} onClick={() => send(view)}>
                {importing.slow ? m.importing : m.importAction(view.count)}
              </button>
            </p>
          )}
          {progress !== null && importing.slow && (
            <p class="buttons">
              <progress aria-label={m.importing} max={progress.total} value={progress.done} />
              <span role="status">{m.importProgress(progress.done, progress.total)}</span>
              <button onClick={() => (isStopped.current = true)}>{m.importStop}</button>
            </p>
          )}
        </section>
      )}
      <Problem text={importing.problem} />
      {done !== null && (
        <div role="status">
          <p class="good">{m.imported(done.imported)}</p>
          {done.left > 0 && <p class="problem">{m.importStopped(done.left)}</p>}
          <LeftOut title={m.importFailed} parts={done.failed} />
          {done.left === 0 && <p>{m.importRemove}</p>}
        </div>
      )}
      <ExportVault />
    </Page>
  );
}

/** What is still to import. */
function restOf(view: ImportView, { imported, left }: Imported): ImportView {
  return { ...view, count: left, present: view.present + imported, names: view.names.slice(view.count - left) };
}
