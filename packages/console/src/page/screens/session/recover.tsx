import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { EmailField } from "../../parts/email-field.tsx";
import { Field } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Mark } from "../../parts/mark.tsx";
import { NewPasswordFields, useNewPassword } from "../../parts/session/new-password-fields.tsx";
import { Problem } from "../../parts/problem.tsx";
import { SecretField } from "../../parts/secret-field.tsx";
import { call } from "../../store.ts";
import { typedEmail } from "../../typed-email.ts";
import { useAction } from "../../use-action.ts";
import { CallError } from "../../worker-client.ts";
import { RecoverySheet } from "./recovery-sheet.tsx";

/** Screen 3: the way back in with the recovery key, a new password, and another recovery key. */
export function Recover() {
  const chosen = useNewPassword();
  const email = typedEmail.value;
  const [used, setUsed] = useState("");
  const [malformed, setMalformed] = useState(false);
  const [code, setCode] = useState<string | null>(null);
  const [made, setMade] = useState<string | null>(null);
  const { busy, slow, problem, waitSeconds, run } = useAction({ invalid_credentials: m.recoverRefused });
  if (made !== null) return <RecoverySheet email={email} recoveryKey={made} />;
  const submit = (event: Event): void => {
    event.preventDefault();
    // Without the white space of a sheet that was typed off or scanned.
    const recoveryKey = used.replaceAll(/\s/g, "");
    const isKey = /^cfr1_[\w-]{43}$/.test(recoveryKey);
    setMalformed(!isKey);
    if (!chosen.check() || !isKey) return;
    run(async () => {
      const wish = { email, recoveryKey, newPassword: chosen.password, code: (code ?? "").trim() };
      try {
        setMade((await call("recover", wish)).recoveryKey);
      } catch (error) {
        if (error instanceof CallError && error.code === "code_needed") setCode("");
        throw error;
      }
    });
  };
  return (
    <main class="gate">
      <Mark />
      <h1>{m.recoverTitle}</h1>
      <p>{m.recoverWhy}</p>
      <form onSubmit={submit}>
        <EmailField />
        <SecretField
          label={m.recoveryTitle}
          value={used}
          onInput={setUsed}
          problem={malformed ? m.recoveryMalformed : null}
          required
        />
        <NewPasswordFields chosen={chosen} label={m.passwordNew} />
        {code !== null && (
          <Field
            label={m.codeLabel}
            value={code}
            onInput={setCode}
            autocomplete="one-time-code"
            required
            focused
            mono
          />
        )}
        <Problem text={waitSeconds > 0 ? m.rateLimited(waitSeconds) : problem} />
        <button class="primary wide" disabled={busy || waitSeconds > 0}>
          {slow ? m.recovering : m.recoverAction}
        </button>
      </form>
      <p>
        <Link path="/" text={m.signIn} />
      </p>
    </main>
  );
}
