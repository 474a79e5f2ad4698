import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { Field } from "../../parts/field.tsx";
import { Mark } from "../../parts/mark.tsx";
import { UnlockPasskey } from "../../parts/session/unlock-passkey.tsx";
import { go } from "../../router.ts";
import { call, state } from "../../store.ts";
import { typedEmail } from "../../typed-email.ts";
import { useAction } from "../../use-action.ts";

/** Screen 1, while the session is locked: password or passkey open it in this browser, without the service. */
export function Unlock() {
  const [password, setPassword] = useState("");
  const { busy, slow, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      try {
        await call("unlock", password);
      } finally {
        setPassword("");
      }
    });
  };
  // The recovery begins with the e-mail of the locked session, which ends.
  const recover = async (): Promise<void> => {
    typedEmail.value = state.value.user?.email ?? "";
    await call("signOut");
    go({ path: "/recover" });
  };
  return (
    <main class="gate">
      <Mark />
      <h1>{m.unlockTitle}</h1>
      <p>{state.value.user?.email}</p>
      <form onSubmit={submit}>
        <Field
          label={m.password}
          type="password"
          value={password}
          onInput={setPassword}
          autocomplete="current-password"
          problem={problem}
          required
          focused
        />
        <button class="primary wide" disabled={busy}>
          {slow ? m.unlocking : m.unlock}
        </button>
        <UnlockPasskey />
        <button type="button" class="wide" onClick={() => void call("signOut")}>
          {m.signOut}
        </button>
        <button type="button" class="wide" onClick={() => void recover()}>
          {m.forgotten}
        </button>
      </form>
    </main>
  );
}
