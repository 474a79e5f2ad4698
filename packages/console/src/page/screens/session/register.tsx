import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { EmailField } from "../../parts/email-field.tsx";
import { Field } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Mark } from "../../parts/mark.tsx";
import { NewPasswordFields, useNewPassword } from "../../parts/session/new-password-fields.tsx";
import { Problem } from "../../parts/problem.tsx";
import { invitation } from "../../router.ts";
import { call } from "../../store.ts";
import { typedEmail } from "../../typed-email.ts";
import { useAction } from "../../use-action.ts";
import { RecoverySheet } from "./recovery-sheet.tsx";

/** Screen 2: a new account, and its recovery key, which the person types back in part. */
export function Register() {
  const email = typedEmail.value;
  const [recoveryKey, setRecoveryKey] = useState<string | null>(null);
  if (recoveryKey !== null) return <RecoverySheet email={email} recoveryKey={recoveryKey} />;
  return <RegisterForm email={email} onRegistered={setRecoveryKey} />;
}

interface FormProps {
  email: string;
  onRegistered: (recoveryKey: string) => void;
}

function RegisterForm({ email, onRegistered }: FormProps) {
  const chosen = useNewPassword();
  const [name, setName] = useState("");
  const [organization, setOrganization] = useState("");
  const { busy, slow, problem, waitSeconds, run } = useAction({
    conflict: m.emailTaken,
    ...(invitation.value === "" ? {} : { access_denied: m.invitedOther }),
  });
  const isInvited = invitation.value !== "";

  const submit = (event: Event): void => {
    event.preventDefault();
    if (!chosen.check()) return;
    const { password } = chosen;
    run(async () => {
      const made = await call("register", {
        ...{ email, password, name: name.trim(), organization: organization.trim() },
        invitation: invitation.value,
      });
      onRegistered(made.recoveryKey);
    });
  };
  return (
    <main class="gate">
      <Mark />
      <h1>{m.registerTitle}</h1>
      {isInvited && <p>{m.registerInvited}</p>}
      <form onSubmit={submit}>
        <EmailField />
        <NewPasswordFields chosen={chosen} label={m.password} />
        <Field label={m.yourName} value={name} onInput={setName} autocomplete="name" />
        {!isInvited && (
          <Field label={m.organization} value={organization} onInput={setOrganization} autocomplete="organization" />
        )}
        <Problem text={waitSeconds > 0 ? m.rateLimited(waitSeconds) : problem} />
        <button class="primary wide" disabled={busy || waitSeconds > 0}>
          {slow ? m.registering : m.register}
        </button>
      </form>
      <p>
        {m.haveAccount} <Link path="/" text={m.signIn} />
      </p>
    </main>
  );
}
