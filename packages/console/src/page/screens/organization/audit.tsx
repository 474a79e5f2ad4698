import { auditActions, auditOutcomes } from "@coffer/contract";
import { useEffect, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { AuditRow, AuditView, AuditWish, ChainView } from "../../../protocol/audit.ts";
import { momentOf } from "../../dates.ts";
import { Choice } from "../../parts/choice.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { toast } from "../../parts/toast.tsx";
import { saveFile } from "../../save-file.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";

const step = 100;
const most = 1000;
/** Longer chains are verified when the person asks: all of it is read. */
const longestUnasked = 10_000;

const actions = auditActions.toSorted().map((action) => [action, action] as const);
const outcomes = auditOutcomes.map((outcome) => [outcome, m.outcomes[outcome]] as const);

/** Screen 17: what happened in an organization, and whether the record of it is whole. */
export function Audit() {
  const [wish, setWish] = useState<AuditWish>({
    ...{ organization: null, action: "", outcome: "", actor: "", from: "", to: "", limit: step },
  });
  const { view, problem } = useLoad(() => call("audit", wish), [wish]);
  const organization = view?.organization ?? null;
  return (
    <Page title={m.audit} problem={problem} wide>
      {view !== null && organization === null && <p>{m.auditNotYours}</p>}
      {view !== null && organization !== null && (
        <>
          <Chain key={organization} organization={organization} count={view.count} />
          <Filters wish={{ ...wish, organization }} view={view} onWish={setWish} />
          <ol class="audit" aria-label={m.audit}>
            {view.rows.map((row) => (
              <li key={row.seq}>
                <Row row={row} />
              </li>
            ))}
          </ol>
          {view.rows.length === 0 && <p>{m.nothingFound}</p>}
          <p class="buttons">
            {view.rows.length === wish.limit && wish.limit < most && (
              <button onClick={() => setWish({ ...wish, limit: Math.min(most, wish.limit + step) })}>
                {m.auditOlder}
              </button>
            )}
            <Export wish={{ ...wish, organization }} />
            <code class="command">{m.auditCommand}</code>
          </p>
        </>
      )}
    </Page>
  );
}

/** Verifies the chain, and says how. */
function Chain({ organization, count }: { organization: string; count: number }) {
  const [chain, setChain] = useState<ChainView | null>(null);
  const { busy, problem, run } = useAction();
  const verify = (): void => run(async () => setChain(await call("verifyAudit", organization)));
  useEffect(() => {
    if (count <= longestUnasked) verify();
  }, []);
  return (
    <section aria-label={m.chain}>
      {chain === null || busy ? (
        <p role="status">{busy ? m.chainVerifying(count) : m.chainUnverified(count)}</p>
      ) : chain.broken === null ? (
        <p role="status" class="good">
          {m.chainWhole(chain.count)} {chain.before > 0 && m.chainBefore(chain.before)}
        </p>
      ) : (
        <p role="alert" class="problem">
          {m.chainBroken(chain.broken.seq, chain.broken.problem)}
        </p>
      )}
      {chain !== null && chain.gaps > 0 && <p class="problem">{m.chainGaps(chain.gaps)}</p>}
      <Problem text={problem} />
      <p class="buttons">
        <button disabled={busy} onClick={verify}>
          {m.chainVerify}
        </button>
        <code class="command">{m.chainCommand}</code>
      </p>
    </section>
  );
}

interface FiltersProps {
  wish: AuditWish;
  view: AuditView;
  onWish: (wish: AuditWish) => void;
}

function Filters({ wish, view: { members }, onWish }: FiltersProps) {
  const change = (part: Partial<AuditWish>): void => onWish({ ...wish, limit: step, ...part });
  const day = (label: string, name: "from" | "to") => (
    <label>
      {label}{" "}
      <input type="date" value={wish[name]} onChange={({ currentTarget: { value } }) => change({ [name]: value })} />
    </label>
  );
  return (
    <p class="buttons">
      <Choice
        label={m.action}
        value={wish.action}
        options={[["", m.everyAction], ...actions]}
        onChoose={(action) => change({ action })}
      />
      <Choice
        label={m.outcome}
        value={wish.outcome}
        options={[["", m.everyOutcome], ...outcomes]}
        onChoose={(outcome) => change({ outcome })}
      />
      <Choice
        label={m.actor}
        value={wish.actor}
        options={[["", m.everyActor], ...members.map(({ id, email }) => [id, email] as const)]}
        onChoose={(actor) => change({ actor })}
      />
      {day(m.auditFrom, "from")}
      {day(m.auditTo, "to")}
    </p>
  );
}

/** Saves all records of the choice as a file. The worker reads them; the page has no network. */
function Export({ wish }: { wish: AuditWish }) {
  const { busy, slow, problem, run } = useAction();
  const save = (): void =>
    run(async () => {
      const { file, count } = await call("exportAudit", wish);
      saveFile(file, "audit.jsonl");
      toast(m.auditExported(count));
    });
  return (
    <>
      <button disabled={busy} onClick={save}>
        {slow ? m.auditExporting : m.auditExport}
      </button>
      <Problem text={problem} />
    </>
  );
}

/** A newer service may know others. */
function isOutcome(text: string): text is keyof typeof m.outcomes {
  return Object.hasOwn(m.outcomes, text);
}

function Row({ row: { seq, time, action, outcome, actor, target, ip, record } }: { row: AuditRow }) {
  const isGood = outcome === "success";
  return (
    <details>
      <summary>
        <span class="count">{seq}</span>
        <time dateTime={time}>{momentOf(time, "long")}</time>
        <strong>{action}</strong>
        {!isGood && <span class="problem">{isOutcome(outcome) ? m.outcomes[outcome] : outcome}</span>}
        <span class="hint">
          {m.auditWho(actor, target)}
          {ip !== "" && ` · ${ip}`}
        </span>
      </summary>
      <pre>{record}</pre>
    </details>
  );
}
