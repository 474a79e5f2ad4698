import { useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import { Field } from "../parts/field.tsx";
import { Heading } from "../parts/heading.tsx";
import { Mark } from "../parts/mark.tsx";
import { Problem } from "../parts/problem.tsx";
import { toast } from "../parts/toast.tsx";
import { go, invitation } from "../router.ts";
import { call } from "../store.ts";
import { useAction } from "../use-action.ts";

/** Screen 2: joins the organization of an invitation. */
export function Join() {
  const [text, setText] = useState(invitation.value);
  const { busy, problem, run } = useAction();
  const leave = (): void => {
    invitation.value = "";
    go({ path: "/" });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      toast(m.joined(await call("join", text.trim().replace(/^.*#/, ""))));
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
        <Problem text={problem} />
        <p class="buttons">
          <button class="primary" disabled={busy}>
            {m.joinAction}
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
