import { auditActions, auditOutcomes } from "@coffer/contract";
import { useEffect, useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { AuditRow, AuditView, AuditWish, ChainView } from "../../protocol.ts";
import { momentOf } from "../dates.ts";
import { Header } from "../parts/header.tsx";
import { Problem } from "../parts/problem.tsx";
import { go } from "../router.ts";
import { call } from "../store.ts";
import { useAction } from "../use-action.ts";
import { HelpDialog } from "./help.tsx";

const step = 100;
const most = 1000;
/** Longer chains are verified when the person asks: all of it is read. */
const longestUnasked = 10_000;

/** Screen 17: what happened in an organization, and whether the record of it is whole. */
export function Audit() {
  const [wish, setWish] = useState<AuditWish>({ organization: null, action: "", outcome: "", limit: step });
  const [view, setView] = useState<AuditView | null>(null);
  const [help, setHelp] = useState(false);
  const { problem, run } = useAction();
  useEffect(() => run(async () => setView(await call("audit", wish))), [wish]);
  const organization = view?.organization ?? null;
  return (
    <div class="shell single">
      <Header onHelp={() => setHelp(true)} />
      <main class="sheet-page wide">
        <p>
          <button onClick={() => go({ path: "/" })}>{m.toRecords}</button>
        </p>
        <h1>{m.audit}</h1>
        <Problem text={problem} />
        {view !== null && organization === null && <p>{m.auditNotYours}</p>}
        {view !== null && organization !== null && (
          <>
            <Chain key={organization} organization={organization} count={view.count} />
            <Filters wish={{ ...wish, organization }} organizations={view.organizations} onWish={setWish} />
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
              <code class="command">{m.auditCommand}</code>
            </p>
          </>
        )}
      </main>
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
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
  organizations: AuditView["organizations"];
  onWish: (wish: AuditWish) => void;
}

function Filters({ wish, organizations, onWish }: FiltersProps) {
  const change = (part: Partial<AuditWish>): void => onWish({ ...wish, limit: step, ...part });
  return (
    <p class="buttons">
      {organizations.length > 1 && (
        <select
          aria-label={m.organizationLabel}
          value={wish.organization ?? ""}
          onChange={({ currentTarget }) => change({ organization: currentTarget.value })}
        >
          {organizations.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label={m.action}
        value={wish.action}
        onChange={({ currentTarget }) => change({ action: currentTarget.value })}
      >
        <option value="">{m.everyAction}</option>
        {auditActions.toSorted().map((action) => (
          <option key={action} value={action}>
            {action}
          </option>
        ))}
      </select>
      <select
        aria-label={m.outcome}
        value={wish.outcome}
        onChange={({ currentTarget }) => change({ outcome: currentTarget.value })}
      >
        <option value="">{m.everyOutcome}</option>
        {auditOutcomes.map((outcome) => (
          <option key={outcome} value={outcome}>
            {m.outcomes[outcome]}
          </option>
        ))}
      </select>
    </p>
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
        <time dateTime={time}>{momentOf(time)}</time>
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
