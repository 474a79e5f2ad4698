import { useEffect, useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { FolderView, FoldersView, Rotated, SecretView } from "../../protocol.ts";
import { copy } from "../copy.ts";
import { momentOf } from "../dates.ts";
import { explain } from "../explain.ts";
import { Empty } from "../parts/empty.tsx";
import { Field } from "../parts/field.tsx";
import { MachineTokenSheet } from "../parts/machine-token.tsx";
import type { MadeToken } from "../parts/machine-token.tsx";
import { NewMachine } from "../parts/new-machine.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Question } from "../parts/question.tsx";
import { RotatedNotice } from "../parts/rotate-notice.tsx";
import { toast } from "../parts/toast.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { call } from "../store.ts";
import { useAction } from "../use-action.ts";
import { SharingDialog } from "./sharing.tsx";

/** Screen 11: folders with their secrets, and a token for a machine. */
export function Folders() {
  const [view, setView] = useState<FoldersView | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    call("folders").then(setView, (error: unknown) => setFailure(explain(error)));
  }, []);
  const folders = view?.folders.toSorted((a, b) => a.name.localeCompare(b.name)) ?? [];
  const folder = folders.find(({ id }) => id === chosen) ?? folders[0];
  return (
    <Page title={m.folders} problem={failure} wide>
      {view !== null && folder === undefined && (
        <Empty title={m.noFolderTitle} text={m.noFolder} command={m.folderCommand} />
      )}
      {folders.length > 0 && (
        <Tabs
          label={m.folders}
          tabs={folders.map(({ id, name }) => [id, name])}
          current={folder?.id}
          onChoose={setChosen}
        />
      )}
      {view !== null && folder !== undefined && (
        <Folder
          key={folder.id}
          folder={folder}
          secrets={view.secrets.filter(({ folderId }) => folderId === folder.id)}
          onChange={setView}
        />
      )}
      {view !== null && (
        <NewFolder
          onMade={(made, name) => {
            setView(made);
            setChosen(made.folders.find((each) => each.name === name)?.id ?? null);
          }}
        />
      )}
    </Page>
  );
}

function NewFolder({ onMade }: { onMade: (view: FoldersView, name: string) => void }) {
  const [name, setName] = useState("");
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      onMade(await call("createFolder", name.trim()), name.trim());
      setName("");
    });
  };
  return (
    <section aria-label={m.newFolder}>
      <h2>{m.newFolder}</h2>
      <form onSubmit={submit}>
        <Field label={m.folderName} value={name} onInput={setName} required />
        <Problem text={problem} />
        <p class="buttons">
          <button disabled={busy}>{m.create}</button>
          <code class="command">{m.folderCommand}</code>
        </p>
      </form>
    </section>
  );
}

interface FolderProps {
  folder: FolderView;
  secrets: SecretView[];
  onChange: (view: FoldersView) => void;
}

function Folder({ folder, secrets, onChange }: FolderProps) {
  const { name, permission, problem } = folder;
  const [made, setMade] = useState<MadeToken | null>(null);
  const [sharing, setSharing] = useState(false);
  const [asking, setAsking] = useState(false);
  const [rotated, setRotated] = useState<Rotated | null>(null);
  const { busy, problem: rotationProblem, run } = useAction();
  if (problem !== null) return <p class="problem">{m.folderProblem(problem)}</p>;
  const sorted = secrets.toSorted((a, b) => a.title.localeCompare(b.title));
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <p class="buttons">
        <button onClick={() => setSharing(true)}>{m.share}</button>
        {permission === "manage" && (
          <button disabled={busy} onClick={() => setAsking(true)}>
            {m.rotate}
          </button>
        )}
      </p>
      {asking && (
        <Question
          title={m.rotateOf(name)}
          text={m.rotateText(name)}
          action={m.rotate}
          busy={busy}
          onYes={() =>
            run(async () => {
              setRotated(await call("rotate", { kind: "folder", id: folder.id }));
              setAsking(false);
            })
          }
          onNo={() => setAsking(false)}
        />
      )}
      <Problem text={rotationProblem} />
      {rotated !== null && <RotatedNotice rotated={rotated} />}
      {sharing && <SharingDialog shared={{ kind: "folder", ...folder }} onClose={() => setSharing(false)} />}
      {secrets.length === 0 && <p class="hint">{m.noSecret}</p>}
      <ul class="secrets" aria-label={m.secrets}>
        {sorted.map((secret) => (
          <li key={secret.uid}>
            <strong>{secret.title}</strong>
            {secret.expired && <span class="problem">{m.expired}</span>}
            <span class="hint">{m.changedAt(momentOf(secret.updatedAt))}</span>
            <dl class="fields">
              {secret.fields.map((field) => (
                <Value key={field} folder={name} secret={secret} field={field} />
              ))}
            </dl>
          </li>
        ))}
      </ul>
      {permission !== "read" && <SetSecret folder={folder} onChange={onChange} />}
      {permission === "manage" &&
        (made === null ? (
          <NewMachine folders={[folder]} onMade={setMade} />
        ) : (
          <MachineTokenSheet made={made} onClose={() => setMade(null)} />
        ))}
    </section>
  );
}

function Value({ folder, secret: { uid, title }, field }: { folder: string; secret: SecretView; field: string }) {
  const [shown, setShown] = useState<string | null>(null);
  const label = `${title}: ${field}`;
  const value = (): Promise<string> => call("secretValue", { uid, field });
  const toggle = (): void => {
    if (shown !== null) setShown(null);
    else value().then(setShown, (error: unknown) => toast(explain(error)));
  };
  const notation = `coffer://${[folder, title].map(encodeURIComponent).join("/")}/field/${encodeURIComponent(field)}`;
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

function SetSecret({ folder: { id: folderId }, onChange }: Pick<FolderProps, "folder" | "onChange">) {
  const [title, setTitle] = useState("");
  const [field, setField] = useState("password");
  const [value, setValue] = useState("");
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      onChange(await call("setSecret", { folderId, title: title.trim(), field: field.trim(), value }));
      setValue("");
      toast(m.saved);
    });
  };
  return (
    <form onSubmit={submit}>
      <h3>{m.setSecret}</h3>
      <div class="pair">
        <Field label={m.secretTitle} value={title} onInput={setTitle} required />
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
