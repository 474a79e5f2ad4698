import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { PeopleView, PersonView, Role } from "../../../protocol/people.ts";
import type { ToRotate } from "../../../protocol/sharing.ts";
import { copy } from "../../copy.ts";
import { momentOf } from "../../dates.ts";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/field.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Question } from "../../parts/question.tsx";
import { RotateNotice } from "../../parts/organization/rotate-notice.tsx";
import { roleOptions } from "../../role-options.ts";
import { go, place } from "../../router.ts";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";
import { useFocus } from "../../use-focus.ts";
import { Person } from "./person.tsx";

/** Screen 15: the members of the organization, their roles, and invitations. */
export function People() {
  const { view: people, show, problem } = useLoad(() => call("people"));
  const [rotate, setRotate] = useState<ToRotate[]>([]);
  const removed = (result: { people: PeopleView; rotate: ToRotate[] }): void => {
    show(result.people);
    setRotate(result.rotate);
    go({ openId: null });
  };
  const opened = people?.members.find(({ id }) => id === place.value.openId);
  if (opened !== undefined && people?.mayManage === true)
    return <Person key={opened.id} person={opened} onChange={show} onRemoved={removed} />;
  return (
    <Page title={m.people} problem={people?.organization === null ? m.noOrganization : problem}>
      {people !== null && people.organization !== null && (
        <>
          <Members people={people} organization={people.organization} onChange={show} onRemoved={removed} />
          <RotateNotice rotate={rotate} />
          {people.mayManage && <Invitations people={people} onChange={show} />}
        </>
      )}
    </Page>
  );
}

interface ChangeProps {
  people: PeopleView;
  onChange: (people: PeopleView) => void;
}

interface MembersProps extends ChangeProps {
  organization: string;
  onRemoved: (removed: { people: PeopleView; rotate: ToRotate[] }) => void;
}

function Members({ people, organization, onChange, onRemoved }: MembersProps) {
  const [leaving, setLeaving] = useState<PersonView | null>(null);
  const { busy, problem, run } = useAction();
  const remove = (userId: string): void =>
    run(async () => {
      onRemoved(await call("removeMember", userId));
      setLeaving(null);
    });
  return (
    <section aria-label={m.members}>
      <h2>{m.peopleOf(organization)}</h2>
      <ul class="members">
        {people.members.map((member) => (
          <li key={member.id}>
            <Member
              member={member}
              busy={busy}
              mayChange={people.mayManage && member.id !== state.value.user?.id}
              onRole={(role) => run(async () => onChange(await call("setRole", { userId: member.id, role })))}
              onRemove={() => setLeaving(member)}
            />
          </li>
        ))}
      </ul>
      {leaving !== null && (
        <Question
          title={m.removePerson(leaving.email)}
          text={m.removePersonText(leaving.email)}
          action={m.memberRemove}
          busy={busy}
          onYes={() => remove(leaving.id)}
          onNo={() => setLeaving(null)}
        />
      )}
      <Problem text={problem} />
    </section>
  );
}

interface MemberProps {
  member: PersonView;
  busy: boolean;
  mayChange: boolean;
  onRole: (role: Role) => void;
  onRemove: () => void;
}

function Member({ member: { id, email, role, status, problem }, busy, mayChange, onRole, onRemove }: MemberProps) {
  return (
    <>
      {mayChange && problem !== "ended" ? (
        <button class="title" onClick={() => go({ openId: id })}>
          {email}
        </button>
      ) : (
        <span>
          {email}
          {id === state.value.user?.id && ` (${m.you})`}
        </span>
      )}
      {status === "suspended" && <span class="hint">{m.statuses.suspended}</span>}
      {mayChange && problem === null ? (
        <Choice label={m.roleOf(email)} value={role} options={roleOptions} disabled={busy} onChoose={onRole} />
      ) : (
        problem !== "ended" && <span class="hint">{m.roles[role]}</span>
      )}
      {mayChange && (
        <button disabled={busy} aria-label={m.removePerson(email)} onClick={onRemove}>
          {m.memberRemove}
        </button>
      )}
      {problem !== null && <span class="problem">{problem === "ended" ? m.memberEnded : m.personUnconfirmed}</span>}
    </>
  );
}

function Invitations({ people, onChange }: ChangeProps) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [invitation, setInvitation] = useState<string | null>(null);
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const made = await call("invite", { email: email.trim(), role });
      onChange(made.people);
      setInvitation(`${location.origin}/join#${made.invitation}`);
      setEmail("");
    });
  };
  return (
    <section aria-label={m.invitations}>
      {people.invitations.length > 0 && (
        <>
          <h2>{m.invitations}</h2>
          <ul class="members">
            {people.invitations.map((each) => (
              <li key={each.id}>
                <span>{each.email}</span>
                <span class="hint">
                  {m.roles[each.role]}, {m.until(momentOf(each.expiresAt))}
                </span>
                <button
                  disabled={busy}
                  aria-label={m.withdrawOf(each.email)}
                  onClick={() => run(async () => onChange(await call("withdraw", { id: each.id, email: each.email })))}
                >
                  {m.withdraw}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {invitation !== null && (
        <InvitationSheet key={invitation} link={invitation} onClose={() => setInvitation(null)} />
      )}
      <h2>{m.inviteTitle}</h2>
      <form onSubmit={submit}>
        <Field label={m.email} type="email" value={email} onInput={setEmail} required />
        <p class="buttons">
          <Choice label={m.role} value={role} options={roleOptions} onChoose={setRole} />
          <button class="primary" disabled={busy}>
            {m.inviteAction}
          </button>
          <code class="command">{m.inviteCommand}</code>
        </p>
        <Problem text={problem} />
      </form>
    </section>
  );
}

/** The link of an invitation, which is shown once. */
function InvitationSheet({ link, onClose }: { link: string; onClose: () => void }) {
  const sheet = useFocus<HTMLElement>({ fromFields: true });
  return (
    <section ref={sheet} tabIndex={-1} class="sheet" aria-label={m.invitationLink}>
      <p>{m.invitationOnce}</p>
      <p class="mono recovery">{link}</p>
      <p class="buttons">
        <button onClick={() => void copy(m.invitationLink, () => Promise.resolve(link))}>{m.copy}</button>
        <button class="primary" onClick={onClose}>
          {m.invitationKept}
        </button>
      </p>
    </section>
  );
}
