import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { OrganizationView } from "../../../protocol/people.ts";
import { momentOf } from "../../dates.ts";
import { Field } from "../../parts/field.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";

/** Screen 19: the organization: its name, plan and billing. */
export function Organization() {
  const { view, show, problem } = useLoad(() => call("organization"));
  return (
    <Page title={m.organizationLabel} problem={view?.current === null ? m.noOrganization : problem} wide>
      {view?.current === null && <NewOrganization onMade={show} />}
      {view?.current != null && <Current current={view.current} billing={view.billing} />}
    </Page>
  );
}

interface CurrentProps {
  current: NonNullable<OrganizationView["current"]>;
  billing: OrganizationView["billing"];
}

function Current({ current: { id, name, role, plan, createdAt }, billing }: CurrentProps) {
  return (
    <>
      <section aria-label={name}>
        <h2>{name}</h2>
        <dl class="fields">
          <Fact name={m.plan} value={Object.hasOwn(m.plans, plan) ? m.plans[plan as keyof typeof m.plans] : plan} />
          <Fact name={m.ownRole} value={Object.hasOwn(m.roles, role) ? m.roles[role as keyof typeof m.roles] : role} />
          <Fact name={m.founded} value={momentOf(createdAt)} />
          <Fact name={m.organizationId} value={id} />
        </dl>
        <p class="hint">{m.planWhy}</p>
        <p>
          <code class="command">{m.organizationShowCommand}</code>
        </p>
      </section>
      <section aria-label={m.billing}>
        <h2>{m.billing}</h2>
        {billing.length === 0 && <p>{m.noBilling}</p>}
        <ul class="members" aria-label={m.billing}>
          {billing.map(({ seq, time, action, outcome }) => (
            <li key={seq}>
              <span>{action}</span>
              <span class={outcome === "success" ? "hint" : "problem"}>
                {outcome === "success" ? momentOf(time) : `${m.outcomes[outcome]}, ${momentOf(time)}`}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class="value">{value}</span>
      </dd>
    </div>
  );
}

function NewOrganization({ onMade }: { onMade: (view: OrganizationView) => void }) {
  const [name, setName] = useState("");
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => onMade(await call("createOrganization", name.trim())));
  };
  return (
    <form onSubmit={submit}>
      <h2>{m.organizationNew}</h2>
      <Field label={m.organizationName} value={name} onInput={setName} required />
      <Problem text={problem} />
      <p class="buttons">
        <button class="primary" disabled={busy}>
          {m.create}
        </button>
        <code class="command">{m.organizationCommand}</code>
      </p>
    </form>
  );
}
