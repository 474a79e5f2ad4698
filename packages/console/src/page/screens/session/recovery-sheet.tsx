import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { Field } from "../../parts/field.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Mark } from "../../parts/mark.tsx";
import { Problem } from "../../parts/problem.tsx";
import { RecoveryKey } from "../../parts/session/recovery-key.tsx";
import { go, invitation } from "../../router.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";

const checked = 6;

/** A new recovery key, which the person types back in part before the account is used. */
export function RecoverySheet({ email, recoveryKey }: { email: string; recoveryKey: string }) {
  const [typed, setTyped] = useState("");
  const [wrong, setWrong] = useState(false);
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    const right = typed.trim() === recoveryKey.slice(-checked);
    setWrong(!right);
    if (!right) return;
    run(async () => {
      await call("keptRecoveryKey", recoveryKey);
      go({ path: invitation.value === "" ? "/" : "/join" });
    });
  };
  return (
    <main class="gate">
      <Mark />
      <Heading text={m.recoveryTitle} />
      <RecoveryKey email={email} recoveryKey={recoveryKey} />
      <form onSubmit={submit}>
        <Field
          label={m.recoveryCheck}
          value={typed}
          onInput={setTyped}
          problem={wrong ? m.recoveryWrong : null}
          required
          mono
        />
        <Problem text={problem} />
        <button class="primary wide" disabled={busy}>
          {m.continue}
        </button>
      </form>
    </main>
  );
}
