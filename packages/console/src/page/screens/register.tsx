import { useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import { copy } from "../copy.ts";
import { Field } from "../parts/field.tsx";
import { Mark } from "../parts/mark.tsx";
import { Problem } from "../parts/problem.tsx";
import { go } from "../router.ts";
import { call } from "../store.ts";
import { useAction } from "../use-action.ts";

const shortest = 10;
const checked = 6;

/** Screen 2: a new account, and its recovery key, which the person types back in part. */
export function Register() {
  const [email, setEmail] = useState("");
  const [recoveryKey, setRecoveryKey] = useState<string | null>(null);
  if (recoveryKey !== null) return <RecoverySheet email={email} recoveryKey={recoveryKey} />;
  return <RegisterForm email={email} setEmail={setEmail} onRegistered={setRecoveryKey} />;
}

interface FormProps {
  email: string;
  setEmail: (email: string) => void;
  onRegistered: (recoveryKey: string) => void;
}

function RegisterForm({ email, setEmail, onRegistered }: FormProps) {
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [name, setName] = useState("");
  const [organization, setOrganization] = useState("");
  const [shown, setShown] = useState<{ password?: string; again?: string }>({});
  const { busy, slow, problem, waitSeconds, run } = useAction();

  const submit = (event: Event): void => {
    event.preventDefault();
    const wrong = {
      ...(Array.from(password).length < shortest ? { password: m.passwordShort } : {}),
      ...(password === again ? {} : { again: m.passwordsDiffer }),
    };
    setShown(wrong);
    if (Object.keys(wrong).length > 0) return;
    run(async () => {
      const made = await call("register", { email, password, name: name.trim(), organization: organization.trim() });
      onRegistered(made.recoveryKey);
    });
  };
  return (
    <main class="gate">
      <Mark />
      <h1>{m.registerTitle}</h1>
      <form onSubmit={submit}>
        <Field label={m.email} type="email" value={email} onInput={setEmail} autocomplete="username" required focused />
        <Field
          label={m.password}
          type="password"
          value={password}
          onInput={setPassword}
          autocomplete="new-password"
          hint={m.passwordHint}
          problem={shown.password}
          required
        />
        <Field
          label={m.passwordAgain}
          type="password"
          value={again}
          onInput={setAgain}
          autocomplete="new-password"
          problem={shown.again}
          required
        />
        <Field label={m.yourName} value={name} onInput={setName} autocomplete="name" />
        <Field label={m.organization} value={organization} onInput={setOrganization} autocomplete="organization" />
        <Problem text={waitSeconds > 0 ? m.rateLimited(waitSeconds) : problem} />
        <button class="primary wide" disabled={busy || waitSeconds > 0}>
          {slow ? m.registering : m.register}
        </button>
      </form>
      <p>
        {m.haveAccount}{" "}
        <a
          href="/"
          onClick={(event) => {
            event.preventDefault();
            go({ path: "/" });
          }}
        >
          {m.signIn}
        </a>
      </p>
    </main>
  );
}

function RecoverySheet({ email, recoveryKey }: { email: string; recoveryKey: string }) {
  const [typed, setTyped] = useState("");
  const [wrong, setWrong] = useState(false);
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    const right = typed.trim() === recoveryKey.slice(-checked);
    setWrong(!right);
    if (!right) return;
    run(async () => {
      await call("keptRecoveryKey");
      go({ path: "/" });
    });
  };
  return (
    <main class="gate">
      <Mark />
      <h1>{m.recoveryTitle}</h1>
      <p>{m.recoveryWhy}</p>
      <section class="sheet" aria-label={m.recoveryTitle}>
        <p>{m.recoveryFor(email)}</p>
        <p class="mono recovery">{recoveryKey}</p>
        <p class="hint">
          {location.origin}
          <br />
          {m.recoveryUse}
        </p>
      </section>
      <p class="buttons">
        <button type="button" onClick={() => print()}>
          {m.print}
        </button>
        <button type="button" onClick={() => void copy(m.recoveryTitle, () => Promise.resolve(recoveryKey))}>
          {m.copy}
        </button>
      </p>
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
