import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { FolderView, FoldersView, SecretView } from "../../../protocol/folders.ts";
import type { Rotated } from "../../../protocol/sharing.ts";
import { momentOf } from "../../dates.ts";
import { Empty } from "../../parts/empty.tsx";
import { SecretValue } from "../../parts/platform/secret-value.tsx";
import { SetSecret } from "../../parts/platform/set-secret.tsx";
import { Field } from "../../parts/field.tsx";
import { MachineTokenSheet } from "../../parts/platform/machine-token.tsx";
import type { MadeToken } from "../../parts/platform/machine-token.tsx";
import { NewMachine } from "../../parts/platform/new-machine.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Refused } from "../../parts/refused.tsx";
import { Question } from "../../parts/question.tsx";
import { RotatedNotice } from "../../parts/organization/rotate-notice.tsx";
import { SettingsDialog } from "../../parts/settings-dialog.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { go, place } from "../../router.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";
import { mayLeave } from "../../use-unsaved.ts";
import { OfferDialog } from "../offer.tsx";
import { Secret } from "./secret.tsx";
import { SharingSection } from "../records/sharing.tsx";

/** Screen 11: folders with their secrets, and a token for a machine. */
export function Folders() {
  const { view, show, problem } = useLoad(() => call("folders"), [], { not_found: m.noOrganization });
  const [chosen, setChosen] = useState<string | null>(null);
  const folders = view?.folders.toSorted((a, b) => a.name.localeCompare(b.name)) ?? [];
  const folder = folders.find(({ id }) => id === (chosen ?? place.value.openId)) ?? folders[0];
  const opened = view?.secrets.find(({ uid }) => uid === place.value.openId);
  const its = folders.find(({ id }) => id === opened?.folderId);
  if (opened !== undefined && its !== undefined)
    return (
      <Secret
        key={opened.uid}
        secret={opened}
        folder={its}
        onChange={show}
        onBack={() => {
          setChosen(its.id);
          go({ openId: null });
        }}
      />
    );
  return (
    <Page title={m.folders} problem={problem} wide>
      {view !== null && folder === undefined && (
        <Empty title={m.noFolderTitle} text={m.noFolder} command={m.folderCommand} />
      )}
      {folders.length > 0 && (
        <Tabs
          label={m.folders}
          tabs={folders.map(({ id, name }) => [id, name])}
          current={folder?.id}
          onChoose={(id) => {
            if (id !== folder?.id && mayLeave()) setChosen(id);
          }}
        />
      )}
      {view !== null && folder !== undefined && (
        <Folder
          key={folder.id}
          folder={folder}
          secrets={view.secrets.filter(({ folderId }) => folderId === folder.id)}
          onChange={show}
        />
      )}
      {view !== null && (
        <NewFolder
          onMade={(made, name) => {
            show(made);
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
  const [asking, setAsking] = useState(false);
  const [changing, setChanging] = useState(false);
  const [rotated, setRotated] = useState<Rotated | null>(null);
  const [rotations, setRotations] = useState(0);
  const { busy, problem: rotationProblem, run } = useAction();
  if (problem === "not_accepted") return <OfferedFolder folder={folder} onChange={onChange} />;
  if (problem !== null) return <Refused text={m.folderProblem(problem)} code={problem} />;
  const sorted = secrets.toSorted((a, b) => a.title.localeCompare(b.title));
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {permission === "manage" && (
        <p class="buttons">
          <button disabled={busy} onClick={() => setAsking(true)}>
            {m.rotate}
          </button>
          <button onClick={() => setChanging(true)}>{m.settings}</button>
        </p>
      )}
      {asking && (
        <Question
          title={m.rotateOf(name)}
          text={m.rotateText(name)}
          action={m.rotate}
          busy={busy}
          onYes={() =>
            run(async () => {
              setRotated(await call("rotate", { kind: "folder", id: folder.id }));
              setRotations(rotations + 1);
              setAsking(false);
            })
          }
          onNo={() => setAsking(false)}
        />
      )}
      <Problem text={rotationProblem} />
      {rotated !== null && <RotatedNotice rotated={rotated} />}
      {changing && (
        <SettingsDialog
          shared={{ kind: "folder", ...folder }}
          lost={m.removeFolderText(name)}
          onClose={() => setChanging(false)}
          onChanged={async () => onChange(await call("folders"))}
        />
      )}
      {secrets.length === 0 && <p class="hint">{m.noSecret}</p>}
      <ul class="secrets" aria-label={m.secrets}>
        {sorted.map((secret) => (
          <li key={secret.uid}>
            <button class="title" onClick={() => go({ openId: secret.uid })}>
              {secret.title}
            </button>
            {secret.expired && <span class="problem">{m.expired}</span>}
            <span class="hint">{m.changedAt(momentOf(secret.updatedAt))}</span>
            <dl class="fields">
              {secret.fields.map((field) => (
                <SecretValue key={field} folder={name} secret={secret} field={field} />
              ))}
            </dl>
          </li>
        ))}
      </ul>
      {permission !== "read" && <SetSecret folder={folder} secrets={secrets} onChange={onChange} />}
      {/* A new key ends what the history says of removed members. */}
      <SharingSection key={rotations} shared={{ kind: "folder", ...folder }} />
      {permission === "manage" &&
        (made === null ? (
          <NewMachine folders={[folder]} onMade={setMade} />
        ) : (
          <MachineTokenSheet made={made} onClose={() => setMade(null)} />
        ))}
    </section>
  );
}

/** A folder that a colleague shares, before the person accepts it. */
function OfferedFolder({ folder: { id, name }, onChange }: Pick<FolderProps, "folder" | "onChange">) {
  const [asking, setAsking] = useState(false);
  const { problem, run } = useAction();
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <p>{m.notAccepted}</p>
      <p class="buttons">
        <button class="primary" onClick={() => setAsking(true)}>
          {m.review}
        </button>
      </p>
      <Problem text={problem} />
      {asking && (
        <OfferDialog
          shared={{ kind: "folder", id }}
          onAccepted={() => run(async () => onChange(await call("folders")))}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}
