import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { language, m } from "../../messages/messages.ts";
import { lockMinutes } from "../../protocol/session.ts";
import type { AccountView } from "../../protocol/account.ts";
import type { Settings } from "../../protocol/session.ts";
import { copy } from "../copy.ts";
import { Choice } from "../parts/choice.tsx";
import { Field } from "../parts/field.tsx";
import { NewPasswordFields, useNewPassword } from "../parts/session/new-password-fields.tsx";
import { Page } from "../parts/page.tsx";
import { PasskeySection } from "../parts/session/passkey-section.tsx";
import { Problem } from "../parts/problem.tsx";
import { ProofFields, useProof } from "../parts/session/proof-fields.tsx";
import { QrCode } from "../parts/qr-code.tsx";
import { RecoveryKey } from "../parts/session/recovery-key.tsx";
import { SessionList } from "../parts/session/session-list.tsx";
import { Switch } from "../parts/switch.tsx";
import { toast } from "../parts/toast.tsx";
import { call, state } from "../store.ts";
import { useAction } from "../use-action.ts";
import { useLoad } from "../use-load.ts";

/** Screen 8: the person's own key, second factor, password and sessions. */
export function Account() {
  const { view: account, show, reload, problem } = useLoad(() => call("account"));
  return (
    <Page title={m.account} problem={problem}>
      <p>{state.value.user?.email}</p>
      {account !== null && (
        <>
          <section>
            <h2>{m.ownKey}</h2>
            <p class="mono">{account.words}</p>
            <p class="hint">{m.ownKeyWhy}</p>
          </section>
          <SecondFactor isOn={account.hasSecondFactor} onChange={reload} />
          <Password onChange={reload} />
          <NewRecoveryKey onChange={reload} />
          <PasskeySection />
          <InThisBrowser />
          <Sessions account={account} onChange={show} />
        </>
      )}
    </Page>
  );
}

interface Started {
  secret: string;
  address: string;
}

function SecondFactor({ isOn, onChange }: { isOn: boolean; onChange: () => void }) {
  const [asking, setAsking] = useState(false);
  const [started, setStarted] = useState<Started | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const done = (): void => {
    setAsking(false);
    setStarted(null);
    onChange();
  };
  return (
    <section aria-label={m.secondFactor}>
      <h2>{m.secondFactor}</h2>
      <p role="status">{isOn ? m.secondFactorOn : m.secondFactorOff}</p>
      {codes !== null && <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />}
      {started !== null && (
        <ConfirmFactor
          started={started}
          onConfirmed={(recoveryCodes) => {
            setCodes(recoveryCodes);
            done();
          }}
        />
      )}
      {asking && started === null && (
        <Proven
          label={isOn ? m.secondFactorStop : m.secondFactorStart}
          command={isOn ? m.secondFactorStopCommand : m.secondFactorCommand}
          onCancel={() => setAsking(false)}
          run={async (prove) => {
            if (isOn) {
              await prove((proof) => call("stopSecondFactor", proof));
              done();
            } else setStarted(await prove((proof) => call("startSecondFactor", proof)));
          }}
        />
      )}
      {!asking && codes === null && (
        <p class="buttons">
          <button onClick={() => setAsking(true)}>{isOn ? m.secondFactorStop : m.secondFactorStart}</button>
        </p>
      )}
    </section>
  );
}

function ConfirmFactor({ started, onConfirmed }: { started: Started; onConfirmed: (codes: string[]) => void }) {
  const [code, setCode] = useState("");
  const [refused, setRefused] = useState<keyof typeof m.secondFactorRefused | null>(null);
  const { busy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    setRefused(null);
    run(async () => {
      const confirmed = await call("confirmSecondFactor", code.trim());
      if ("refused" in confirmed) setRefused(confirmed.refused);
      else onConfirmed(confirmed.recoveryCodes);
    });
  };
  return (
    <form onSubmit={submit}>
      <p>{m.secondFactorScan}</p>
      <QrCode text={started.address} label={m.secondFactorQr} />
      <p>
        <span class="mono recovery">{started.secret}</span>
      </p>
      <Field
        label={m.secondFactorCode}
        value={code}
        onInput={setCode}
        problem={refused === null ? null : m.secondFactorRefused[refused]}
        autocomplete="one-time-code"
        required
        focused
        mono
      />
      <Problem text={problem} />
      <p class="buttons">
        <button class="primary" disabled={busy}>
          {m.confirm}
        </button>
      </p>
    </form>
  );
}

function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  return (
    <section class="sheet" aria-label={m.recoveryCodes}>
      <p>{m.recoveryCodesWhy}</p>
      <ul class="mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <p class="buttons">
        <button onClick={() => print()}>{m.print}</button>
        <button onClick={() => void copy(m.recoveryCodes, () => Promise.resolve(codes.join("\n")))}>{m.copy}</button>
        <button class="primary" onClick={onClose}>
          {m.recoveryCodesKept}
        </button>
      </p>
    </section>
  );
}

function Password({ onChange }: { onChange: () => void }) {
  const [asking, setAsking] = useState(false);
  const [renewed, setRenewed] = useState<string | null>(null);
  return (
    <section aria-label={m.ownPassword}>
      <h2>{m.ownPassword}</h2>
      {renewed !== null && <RecoveryKey email={state.value.user?.email ?? ""} recoveryKey={renewed} />}
      {asking ? (
        <ChangePassword
          onCancel={() => setAsking(false)}
          onChanged={(recoveryKey) => {
            setAsking(false);
            setRenewed(recoveryKey);
            toast(m.passwordChanged);
            onChange();
          }}
        />
      ) : (
        <p class="buttons">
          <button onClick={() => setAsking(true)}>{m.passwordChange}</button>
        </p>
      )}
    </section>
  );
}

/** Another recovery key for the password that the person has. The service takes it with a change of the password. */
function NewRecoveryKey({ onChange }: { onChange: () => void }) {
  const [asking, setAsking] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  return (
    <section aria-label={m.recoveryKey}>
      <h2>{m.recoveryKey}</h2>
      {made !== null && (
        <>
          <RecoveryKey email={state.value.user?.email ?? ""} recoveryKey={made} />
          <p class="buttons">
            <button class="primary" onClick={() => setMade(null)}>
              {m.recoveryKeyKept}
            </button>
          </p>
        </>
      )}
      {asking && (
        <>
          <p>{m.recoveryKeyMakeWhy}</p>
          <Proven
            label={m.recoveryKeyMake}
            command={m.recoveryKeyCommand}
            onCancel={() => setAsking(false)}
            run={async (prove) => {
              const { recoveryKey } = await prove((proof) =>
                call("changePassword", { ...proof, newPassword: proof.password, newRecoveryKey: true }),
              );
              setMade(recoveryKey);
              setAsking(false);
              onChange();
            }}
          />
        </>
      )}
      {!asking && made === null && (
        <p class="buttons">
          <button onClick={() => setAsking(true)}>{m.recoveryKeyMake}</button>
        </p>
      )}
    </section>
  );
}

interface ChangeProps {
  onCancel: () => void;
  onChanged: (recoveryKey: string | null) => void;
}

function ChangePassword({ onCancel, onChanged }: ChangeProps) {
  const chosen = useNewPassword();
  const [newRecoveryKey, setNewRecoveryKey] = useState(false);
  return (
    <Proven
      label={m.passwordChange}
      command={m.passwordCommand}
      onCancel={onCancel}
      run={async (prove) => {
        if (!chosen.check()) return;
        const { password: newPassword } = chosen;
        const { recoveryKey } = await prove((proof) =>
          call("changePassword", { ...proof, newPassword, newRecoveryKey }),
        );
        onChanged(recoveryKey);
      }}
    >
      <NewPasswordFields chosen={chosen} label={m.passwordNew} />
      <label class="choice">
        <input type="checkbox" checked={newRecoveryKey} onChange={() => setNewRecoveryKey(!newRecoveryKey)} />
        {m.recoveryKeyNew}
      </label>
    </Proven>
  );
}

interface ProvenProps {
  label: string;
  command: string;
  onCancel: () => void;
  run: (prove: ReturnType<typeof useProof>["prove"]) => Promise<void>;
  children?: ComponentChildren;
}

/** A form that asks for the password first. */
function Proven({ label, command, onCancel, run: work, children }: ProvenProps) {
  const given = useProof();
  const { busy, problem, waitSeconds, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(() => work(given.prove));
  };
  return (
    <form onSubmit={submit}>
      <ProofFields given={given} />
      {children}
      <Problem text={waitSeconds > 0 ? m.rateLimited(waitSeconds) : problem} />
      <p class="buttons">
        <button class="primary" disabled={busy || waitSeconds > 0}>
          {label}
        </button>
        <button type="button" onClick={onCancel}>
          {m.cancel}
        </button>
        <code class="command">{command}</code>
      </p>
    </form>
  );
}

const languages = [
  ["", m.languageOfBrowser],
  ["en", "English"],
  ["de", "Deutsch"],
] as const;
const lockTimes = lockMinutes.map((minutes) => [String(minutes), m.minutes(minutes)] as const);

/** The choices that this browser keeps. */
function InThisBrowser() {
  const { language: chosen, lockMinutes: minutes, singleKeys } = state.value.settings;
  const { busy, problem, run } = useAction();
  const change = (part: Partial<Settings>): void =>
    run(async () => {
      await call("changeSettings", part);
      toast(m.saved);
    });
  const isOther = chosen !== "" && chosen !== language();
  return (
    <section aria-label={m.inThisBrowser}>
      <h2>{m.inThisBrowser}</h2>
      <p class="buttons">
        <span>{m.language}</span>
        <Choice
          label={m.language}
          value={chosen}
          options={languages}
          disabled={busy}
          onChoose={(tag) => change({ language: tag })}
        />
        {isOther && <button onClick={() => location.reload()}>{m.reload}</button>}
      </p>
      <p class="buttons">
        <span>{m.lockAfter}</span>
        <Choice
          label={m.lockAfter}
          value={String(minutes)}
          options={lockTimes}
          disabled={busy}
          onChoose={(text) => change({ lockMinutes: lockMinutes.find((each) => String(each) === text) ?? minutes })}
        />
      </p>
      <label class="choice">
        <Switch on={singleKeys} busy={busy} onSwitch={(on) => change({ singleKeys: on })} />
        {m.singleKeys}
      </label>
      <Problem text={problem} />
    </section>
  );
}

function Sessions({ account, onChange }: { account: AccountView; onChange: (account: AccountView) => void }) {
  const { busy, problem, run } = useAction();
  const end = (id: string | null): void => run(async () => onChange(await call("endSession", id)));
  const others = account.sessions.filter(({ current }) => !current);
  return (
    <section aria-label={m.sessions}>
      <h2>{m.sessions}</h2>
      <SessionList sessions={account.sessions} busy={busy} onEnd={end} />
      <Problem text={problem} />
      <p class="buttons">
        {others.length > 0 && (
          <button disabled={busy} onClick={() => end(null)}>
            {m.sessionsEndOthers}
          </button>
        )}
        <code class="command">{m.sessionsCommand}</code>
      </p>
    </section>
  );
}
