import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { notationOf } from "../../../notation.ts";
import type { FoldersView, FolderView, SecretView } from "../../../protocol/folders.ts";
import { copy } from "../../copy.ts";
import { momentOf } from "../../dates.ts";
import { Choice } from "../../parts/choice.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Question } from "../../parts/question.tsx";
import { SecretValue } from "../../parts/platform/secret-value.tsx";
import { SetSecret } from "../../parts/platform/set-secret.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { toast } from "../../parts/toast.tsx";
import { snippetKinds, snippetOf } from "../../snippets.ts";
import type { SnippetKind } from "../../snippets.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";

interface SecretProps {
  secret: SecretView;
  folder: FolderView;
  onChange: (view: FoldersView) => void;
  onBack: () => void;
}

/** Screen 12: one secret: its fields, how programs read it, its expiry, and who has read it. */
export function Secret({ secret, folder, onChange, onBack }: SecretProps) {
  const { title, fields, updatedAt, expired } = secret;
  const mayChange = folder.permission !== "read";
  return (
    <Page title={title} back={[m.backTo(folder.name), onBack]} wide>
      <p class="hint">
        {folder.name} · {m.changedAt(momentOf(updatedAt))}
      </p>
      <dl class="fields">
        {fields.map((field) => (
          <SecretValue key={field} folder={folder.name} secret={secret} field={field} />
        ))}
      </dl>
      {mayChange && !expired && <SetSecret folder={folder} secret={secret} onChange={onChange} />}
      <Snippets folder={folder.name} secret={secret} />
      <Expiry secret={secret} mayChange={mayChange} onChange={onChange} />
      <Readers secret={secret} />
      {mayChange && <Removal secret={secret} onRemoved={onChange} onBack={onBack} />}
    </Page>
  );
}

function Snippets({ folder, secret: { title, fields } }: { folder: string; secret: SecretView }) {
  const [kind, setKind] = useState<SnippetKind>("command");
  const [chosen, setChosen] = useState("");
  const field = fields.includes(chosen) ? chosen : fields[0];
  if (field === undefined) return null;
  const snippet = snippetOf(kind, { title, field, notation: notationOf(folder, title, field) });
  return (
    <section aria-label={m.snippets}>
      <h2>{m.snippets}</h2>
      <Tabs
        label={m.snippets}
        tabs={snippetKinds.map((each) => [each, m.snippetKinds[each]])}
        current={kind}
        onChoose={setKind}
      />
      {fields.length > 1 && (
        <Choice label={m.secretField} value={field} options={fields.map((each) => [each, each])} onChoose={setChosen} />
      )}
      <p class="hint">{m.snippetWhy[kind]}</p>
      <pre class="snippet">{snippet}</pre>
      <p class="buttons">
        <button onClick={() => void copy(m.snippetKinds[kind], () => Promise.resolve(snippet))}>{m.copySnippet}</button>
      </p>
    </section>
  );
}

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** In days. Empty for never. */
const lives = ["1", "7", "30", "90", "365", ""].map(
  (days) => [days, days === "" ? m.expiresNever : m.days(Number(days))] as const,
);

interface ExpiryProps {
  secret: SecretView;
  mayChange: boolean;
  onChange: (view: FoldersView) => void;
}

function Expiry({ secret: { uid, expiresAt, expired }, mayChange, onChange }: ExpiryProps) {
  const [days, setDays] = useState("90");
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    const moment = days === "" ? null : new Date(Date.now() + Number(days) * dayMilliseconds).toISOString();
    run(async () => {
      onChange(await call("setExpiry", { uid, expiresAt: moment }));
      toast(m.saved);
    });
  };
  const until =
    expiresAt === null ? m.expiryNone : expired ? m.expiredAt(momentOf(expiresAt)) : m.expiresAt(momentOf(expiresAt));
  return (
    <section aria-label={m.expiry}>
      <h2>{m.expiry}</h2>
      <p class={expired ? "problem" : ""}>{until}</p>
      {mayChange && (
        <form onSubmit={submit}>
          <p class="buttons">
            <Choice label={m.expiresIn} value={days} options={lives} onChoose={setDays} />
            <button disabled={busy}>{m.expirySet}</button>
            <code class="command">{m.expiryCommand}</code>
          </p>
          <Problem text={problem} />
        </form>
      )}
    </section>
  );
}

function Readers({ secret: { uid, folderId } }: { secret: SecretView }) {
  const { view, problem } = useLoad(() => call("secretReaders", { uid, folderId }));
  return (
    <section aria-label={m.readers}>
      <h2>{m.readers}</h2>
      <Problem text={problem} />
      {view?.isYours === false && <p class="hint">{m.readersNotYours}</p>}
      {view?.isYours === true && (
        <>
          <p class="hint">{m.readersWhy(momentOf(view.since))}</p>
          {view.readers.length === 0 && <p>{m.noReader}</p>}
          <ul class="members" aria-label={m.readers}>
            {view.readers.map(({ name, isMachine, inLists, count, lastAt, ip }) => (
              <li key={`${name} ${String(inLists)}`}>
                <strong>{isMachine ? `${name} (${m.machine})` : name}</strong>
                <span>{inLists ? m.readInLists(count) : m.readTimes(count)}</span>
                <span class="hint">{m.lastSeen(momentOf(lastAt), ip)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <code class="command">{m.auditCommand}</code>
      </p>
    </section>
  );
}

interface RemovalProps {
  secret: SecretView;
  onRemoved: (view: FoldersView) => void;
  onBack: () => void;
}

function Removal({ secret: { uid, title }, onRemoved, onBack }: RemovalProps) {
  const [asking, setAsking] = useState(false);
  const { busy, problem, run } = useAction();
  const remove = (): void =>
    run(async () => {
      const view = await call("removeSecret", uid);
      onBack();
      onRemoved(view);
      toast(m.removed);
    });
  return (
    <>
      {asking ? (
        <Question
          title={m.removeSecret(title)}
          text={m.removeSecretText(title)}
          action={m.remove}
          busy={busy}
          onYes={remove}
          onNo={() => setAsking(false)}
        />
      ) : (
        <p class="buttons">
          <button class="danger" onClick={() => setAsking(true)}>
            {m.removeSecret(title)}
          </button>
          <code class="command">{m.removeSecretCommand}</code>
        </p>
      )}
      <Problem text={problem} />
    </>
  );
}
