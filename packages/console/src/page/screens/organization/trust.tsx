import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { HistoryName, HistoryView, ShownHistory, TrustView } from "../../../protocol/trust.ts";
import { Page } from "../../parts/page.tsx";
import { curable } from "../../parts/refused.tsx";
import { Problem } from "../../parts/problem.tsx";
import { toast } from "../../parts/toast.tsx";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useFocus } from "../../use-focus.ts";
import { useLoad } from "../../use-load.ts";

/** Before the person trusts it: one history, or with null all that the service shows. */
interface Asked {
  one: HistoryName | null;
  shown: ShownHistory[];
}

/** Screen 8: the key pins, and the comparison of words after the service was restored from a backup. */
export function Trust() {
  const { view, show, slow, problem } = useLoad(() => call("trust"));
  const [asked, setAsked] = useState<Asked | null>(null);
  const { busy, problem: refusal, run } = useAction();
  const ask = (one: HistoryName | null): void =>
    run(async () => setAsked({ one, shown: await call("shownHistories", one) }));
  const close = (next: TrustView | null): void => {
    if (next !== null) {
      show(next);
      toast(m.trusted);
    }
    setAsked(null);
  };
  return (
    <Page title={m.trustTitle} problem={problem} wide>
      <p>{m.trustWhy}</p>
      {view === null && slow && <p class="hint">{m.toDoLooking}</p>}
      {view !== null && view.keyring !== null && (
        <section class="notice" aria-label={m.trustDevices}>
          <p class="problem">{textOf(view.keyring)}</p>
          <p class="buttons">
            <button disabled={busy} onClick={() => ask(null)}>
              {m.trustCompareAll}
            </button>
            <code class="command">{m.trustAllCommand}</code>
          </p>
        </section>
      )}
      {asked !== null && <Compare asked={asked} onClose={close} />}
      <Problem text={refusal} />
      {view !== null && (
        <ul class="members" aria-label={m.trust}>
          {view.histories.map((history) => (
            <li key={history.kind + history.id}>
              <History history={history} busy={busy} onAsk={() => ask(history)} />
            </li>
          ))}
        </ul>
      )}
      {view?.histories.length === 0 && <p>{m.trustNothing}</p>}
      <p>
        <code class="command">{m.trustCommand}</code>
      </p>
    </Page>
  );
}

interface HistoryProps {
  history: HistoryView;
  busy: boolean;
  onAsk: () => void;
}

function History({ history: { kind, name, entries, problem }, busy, onAsk }: HistoryProps) {
  return (
    <>
      <strong>{name}</strong>
      <span class="hint">{m.historyKinds[kind]}</span>
      {curable.includes(problem ?? "") && (kind === "vault" || !problem?.startsWith("keyring_")) && (
        <button class="primary" disabled={busy} aria-label={m.trustCompareOf(name)} onClick={onAsk}>
          {m.trustCompare}
        </button>
      )}
      {entries > 0 && <p class="hint whole">{m.trustEntries(entries)}</p>}
      {problem !== null && <p class="problem">{textOf(problem)}</p>}
    </>
  );
}

function Compare({ asked: { one, shown }, onClose }: { asked: Asked; onClose: (trusted: TrustView | null) => void }) {
  const section = useFocus<HTMLElement>();
  const { busy, problem, run } = useAction({ access_denied: m.trustChanged });
  return (
    <section ref={section} tabIndex={-1} class="sheet" aria-label={m.trustCompareTitle}>
      <h2>{m.trustCompareTitle}</h2>
      <p>{m.trustCompareWhy}</p>
      <dl class="fields">
        {shown.map(({ res, name, signer, words, back }) => (
          <div key={res}>
            <dt>{m.trustSigner(name, signer)}</dt>
            <dd>
              <span class="value mono">{words}</span>
            </dd>
            {back !== null && <dd class="problem">{m.trustGoesBack(back.seen, back.shown)}</dd>}
          </div>
        ))}
      </dl>
      <Problem text={problem} />
      <p class="buttons">
        <button
          class="primary"
          disabled={busy}
          onClick={() => run(async () => onClose(await call("trustShown", { one, compared: shown })))}
        >
          {m.trustConfirm}
        </button>
        <button onClick={() => onClose(null)}>{m.cancel}</button>
      </p>
    </section>
  );
}

/** A problem as a sentence. */
function textOf(code: string): string {
  return Object.hasOwn(m.refused, code) ? m.refused[code as keyof typeof m.refused] : m.folderProblem(code);
}
