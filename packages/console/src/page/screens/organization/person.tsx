import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { PeopleView, PersonDetail, PersonView } from "../../../protocol/people.ts";
import type { ToRotate } from "../../../protocol/sharing.ts";
import { Choice } from "../../parts/choice.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Question } from "../../parts/question.tsx";
import { SessionList } from "../../parts/session/session-list.tsx";
import { toast } from "../../parts/toast.tsx";
import { roleOptions } from "../../role-options.ts";
import { go } from "../../router.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";

interface PersonProps {
  person: PersonView;
  onChange: (people: PeopleView) => void;
  onRemoved: (removed: { people: PeopleView; rotate: ToRotate[] }) => void;
}

/** Screen 16: one member, as an administrator sees them: role, key, sessions, travel, and the way out. */
export function Person({ person, onChange, onRemoved }: PersonProps) {
  const { id, email, name, role, status } = person;
  const { view: detail, show, problem: failure } = useLoad(() => call("person", id));
  const { busy, problem, run } = useAction();
  return (
    <Page title={email} problem={failure ?? problem} back={[m.backTo(m.people), () => go({ openId: null })]} wide>
      <p class="hint">
        {name} · {m.statuses[status]}
      </p>
      {person.problem === null && (
        <section aria-label={m.role}>
          <h2>{m.role}</h2>
          <p class="buttons">
            <Choice
              label={m.roleOf(email)}
              value={role}
              options={roleOptions}
              disabled={busy}
              onChoose={(chosen) =>
                run(async () => {
                  onChange(await call("setRole", { userId: id, role: chosen }));
                  toast(m.saved);
                })
              }
            />
            <code class="command">{m.roleCommand}</code>
          </p>
        </section>
      )}
      {detail !== null && (
        <>
          <Key person={person} detail={detail} onConfirmed={show} onChange={onChange} />
          <section aria-label={m.sessions}>
            <h2>{m.sessions}</h2>
            {detail.sessions.length === 0 && <p>{m.noSession}</p>}
            <SessionList
              sessions={detail.sessions}
              busy={busy}
              onEnd={(sessionId) => run(async () => show(await call("endMemberSession", { userId: id, sessionId })))}
            />
            <p class="buttons">
              {detail.sessions.length > 0 && (
                <button
                  disabled={busy}
                  onClick={() => run(async () => show(await call("endMemberSession", { userId: id, sessionId: null })))}
                >
                  {m.sessionsEndAll}
                </button>
              )}
              <code class="command">{m.memberSessionsCommand}</code>
            </p>
          </section>
        </>
      )}
      <Travel person={person} />
      <Leaving person={person} holds={detail?.holds ?? []} onChange={onChange} onRemoved={onRemoved} />
    </Page>
  );
}

interface KeyProps {
  person: PersonView;
  detail: PersonDetail;
  onConfirmed: (detail: PersonDetail) => void;
  onChange: (people: PeopleView) => void;
}

function Key({ person: { id, email, role }, detail: { words, key }, onConfirmed, onChange }: KeyProps) {
  const { busy, problem, run } = useAction({ access_denied: m.memberNotConfirmed });
  return (
    <section aria-label={m.memberKey}>
      <h2>{m.memberKey}</h2>
      <p class="mono">{words}</p>
      <p class={key === "confirmed" ? "good" : "problem"}>{m.memberKeys[key]}</p>
      {key === "unconfirmed" && (
        <p class="buttons">
          <button
            disabled={busy}
            onClick={() =>
              run(async () => {
                onConfirmed(await call("confirmMember", { userId: id, email, role, words }));
                onChange(await call("people"));
                toast(m.memberConfirmed(email));
              })
            }
          >
            {m.memberConfirm}
          </button>
          <code class="command">{m.memberConfirmCommand}</code>
        </p>
      )}
      <Problem text={problem} />
    </section>
  );
}

function Travel({ person: { id, email } }: { person: PersonView }) {
  const { busy, problem, run } = useAction();
  const switchTo = (enabled: boolean): void =>
    run(async () => {
      await call("setMemberTravel", { userId: id, enabled });
      toast(m.memberTravelDone(email, enabled));
    });
  return (
    <section aria-label={m.travel}>
      <h2>{m.travel}</h2>
      <p class="hint">{m.memberTravelWhy}</p>
      <p class="buttons">
        <button disabled={busy} onClick={() => switchTo(true)}>
          {m.memberTravelOn}
        </button>
        <button disabled={busy} onClick={() => switchTo(false)}>
          {m.memberTravelOff}
        </button>
      </p>
      <Problem text={problem} />
    </section>
  );
}

interface LeavingProps extends PersonProps {
  /** The folders and vaults whose histories name the person. */
  holds: ToRotate[];
}

/** The end of the person's access: for now, or for good. */
function Leaving({ person: { id, email, status }, holds, onChange, onRemoved }: LeavingProps) {
  const [asking, setAsking] = useState<"suspend" | "remove" | null>(null);
  const { busy, problem, run } = useAction();
  const setStatus = (next: PersonView["status"]): void =>
    run(async () => {
      onChange(await call("setMemberStatus", { userId: id, status: next }));
      setAsking(null);
    });
  return (
    <section aria-label={m.leaving}>
      <h2>{m.leaving}</h2>
      <p>{holds.length === 0 ? m.leavingNothing : m.leavingHolds}</p>
      <ul class="members" aria-label={m.leavingHolds}>
        {holds.map(({ kind, id: held, name }) => (
          <li key={held}>
            <span>{name}</span>
            <span class="hint">{m.sharedKinds[kind]}</span>
          </li>
        ))}
      </ul>
      {asking !== null && (
        <Question
          title={asking === "remove" ? m.removePerson(email) : m.suspendPerson(email)}
          text={asking === "remove" ? m.removePersonText(email) : m.suspendPersonText(email)}
          action={asking === "remove" ? m.memberRemove : m.suspend}
          busy={busy}
          onYes={() =>
            asking === "remove" ? run(async () => onRemoved(await call("removeMember", id))) : setStatus("suspended")
          }
          onNo={() => setAsking(null)}
        />
      )}
      {asking === null && (
        <p class="buttons">
          {status === "suspended" ? (
            <button disabled={busy} onClick={() => setStatus("active")}>
              {m.reactivatePerson(email)}
            </button>
          ) : (
            <button onClick={() => setAsking("suspend")}>{m.suspendPerson(email)}</button>
          )}
          <button class="danger" onClick={() => setAsking("remove")}>
            {m.removePerson(email)}
          </button>
          <code class="command">{m.removePersonCommand}</code>
        </p>
      )}
      <Problem text={problem} />
    </section>
  );
}
