import { useState } from "preact/hooks";
import { exportCommand } from "../../../commands.ts";
import { m } from "../../../messages/messages.ts";
import { type ExportFormat, exportFormats } from "@coffer/import/formats";
import type { ExportedVault } from "../../../protocol/transfer.ts";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/field.tsx";
import { LeftOut } from "../../parts/records/left-out.tsx";
import { Problem } from "../../parts/problem.tsx";
import { saveFile } from "../../save-file.ts";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useFirstId } from "../../use-first-id.ts";

const formats = exportFormats.map((format) => [format, m.exportFormats[format]] as const);

/** Writes a vault into a file in the clear. It needs the password: a minute at an open console is not enough. */
export function ExportVault() {
  const [format, setFormat] = useState<ExportFormat>("coffer-json");
  const [password, setPassword] = useState("");
  const [done, setDone] = useState<Omit<ExportedVault, "file"> | null>(null);
  const { busy, slow, problem, run } = useAction();
  const vaults = state.value.vaults
    .filter((vault) => vault.problem === null)
    .toSorted((a, b) => a.name.localeCompare(b.name));
  const [vaultId, setVaultId] = useFirstId(vaults);
  const chosen = vaults.find(({ id }) => id === vaultId) ?? vaults[0];
  if (chosen === undefined) return null;
  const submit = (event: Event): void => {
    event.preventDefault();
    setDone(null);
    run(async () => {
      const wish = { vaultId: chosen.id, format, password };
      setPassword("");
      const { file, ...about } = await call("exportVault", wish);
      // The name says nothing of the vault, which travel mode may hide.
      if (about.count > 0) saveFile(file, `coffer-export.${format.split("-").at(-1) ?? format}`);
      setDone(about);
    });
  };
  return (
    <section aria-label={m.exportTitle}>
      <h2>{m.exportTitle}</h2>
      <p>{m.exportWhy}</p>
      <form onSubmit={submit}>
        <p class="buttons">
          <Choice
            label={m.exportFrom}
            value={chosen.id}
            options={vaults.map(({ id, name }) => [id, name])}
            disabled={busy}
            onChoose={setVaultId}
          />
          <Choice label={m.exportFormat} value={format} options={formats} disabled={busy} onChoose={setFormat} />
        </p>
        <Field
          label={m.password}
          type="password"
          value={password}
          onInput={setPassword}
          autocomplete="current-password"
          required
        />
        <Problem text={problem} />
        <p class="buttons">
          <button disabled={busy}>{slow ? m.exporting : m.exportAction}</button>
          <code class="command">{exportCommand(chosen.name, format)}</code>
        </p>
      </form>
      {done !== null && (
        <div role="status">
          {done.count === 0 ? <p>{m.exportEmpty}</p> : <p class="good">{m.exported(done.count)}</p>}
          {done.missing > 0 && <p class="problem">{m.exportMissing(done.missing)}</p>}
          {done.notes.map((note) => (
            <p key={note} class="hint">
              {note}
            </p>
          ))}
          {done.count > 0 && <p>{m.exportRemove}</p>}
          <LeftOut title={m.exportLeftOut} parts={done.leftOut} />
        </div>
      )}
    </section>
  );
}
