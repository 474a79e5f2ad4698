import { useEffect, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { InvitationView } from "../../../protocol/people.ts";
import { Field } from "../../parts/field.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Mark } from "../../parts/mark.tsx";
import { Problem } from "../../parts/problem.tsx";
import { toast } from "../../parts/toast.tsx";
import { go, invitation } from "../../router.ts";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";

/** Screen 2: joins the organization of an invitation. */
export function Join() {
  const [text, setText] = useState(invitation.value);
  const { busy, problem, run } = useAction();
  const leave = (): void => {
    invitation.value = "";
    go({ path: "/" });
  };
  const token = text.trim().replace(/^.*#/, "");
  const [shown, setShown] = useState<{ token: string; view: InvitationView | null } | null>(null);
  const review = (): void => run(async () => setShown({ token, view: await call("invitation", token) }));
  // The one of a link is shown at once.
  useEffect(() => {
    if (token !== "") review();
  }, []);
  const reviewed = shown?.token === token ? shown : null;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (reviewed === null) review();
    else
      run(async () => {
        toast(m.joined(await call("join", token)));
        leave();
      });
  };
  return (
    <main class="gate">
      <Mark />
      <Heading text={m.joinTitle} />
      <p>{m.joinWhy}</p>
      <form onSubmit={submit}>
        <Field label={m.joinInvitation} type="password" value={text} onInput={setText} required mono />
        {reviewed !== null && <Shown view={reviewed.view} />}
        <Problem text={problem} />
        <p class="buttons">
          <button class="primary" disabled={busy || reviewed?.view?.isYours === false}>
            {reviewed === null ? m.review : m.joinAction}
          </button>
          <button type="button" onClick={leave}>
            {m.cancel}
          </button>
          <code class="command">{m.joinCommand}</code>
        </p>
      </form>
    </main>
  );
}

/** What the invitation proves, and what it does not. */
function Shown({ view }: { view: InvitationView | null }) {
  return (
    <section class="notice" aria-label={m.joinShown} role="status">
      {view === null ? (
        <p class="problem">{m.joinUnproven}</p>
      ) : (
        <>
          <p>
            <strong>{m.joinFrom(view.from, view.organization)}</strong>
          </p>
          <p class="hint">{m.joinProves}</p>
          {!view.isYours && <p class="problem">{m.joinOther(state.value.user?.email ?? "")}</p>}
        </>
      )}
    </section>
  );
}
