import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { TravelView } from "../../../protocol/travel.ts";
import { momentOf } from "../../dates.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { ProofFields, useProof } from "../../parts/session/proof-fields.tsx";
import { Switch } from "../../parts/switch.tsx";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";

/** Screen 7: what stays and what goes on a journey, and which devices have not heard of it. */
export function Travel() {
  const { view: travel, show, problem } = useLoad(() => call("travel"));
  const [starting, setStarting] = useState(false);
  return (
    <Page title={m.travel} problem={problem}>
      <p>{m.travelWhy}</p>
      {travel !== null && (
        <>
          <p role="status" class="notice">
            {travel.enabled ? m.travelOn(travel.since === null ? null : momentOf(travel.since)) : m.travelOff}
          </p>
          {travel.enabled ? <Stop onStopped={show} /> : <Choices onStart={() => setStarting(true)} />}
          <Devices travel={travel} />
        </>
      )}
      {starting && (
        <StartDialog
          onClose={() => setStarting(false)}
          onStarted={(started) => {
            show(started);
            setStarting(false);
          }}
        />
      )}
    </Page>
  );
}

function Choices({ onStart }: { onStart: () => void }) {
  const { busy, problem, run } = useAction();
  const vaults = state.value.vaults.toSorted((a, b) => a.name.localeCompare(b.name));
  const stay = vaults.filter(({ safeForTravel }) => safeForTravel).length;
  if (vaults.length === 0) return <p>{m.travelNoVault}</p>;
  return (
    <>
      <fieldset>
        <legend>{m.travelStays}</legend>
        {vaults.map(({ id, name, safeForTravel, permission }) => (
          <label key={id} class="choice">
            <Switch
              on={safeForTravel}
              busy={busy}
              disabled={permission === "read"}
              onSwitch={(safe) =>
                run(async () => {
                  await call("setSafeForTravel", { vaultId: id, safe });
                })
              }
            />
            {name}
          </label>
        ))}
        <p class="hint">{m.travelCount(stay, vaults.length - stay)}</p>
      </fieldset>
      <Problem text={problem} />
      <p class="buttons">
        <button class="primary" onClick={onStart}>
          {m.travelStart}
        </button>
        <code class="command">{m.travelCommand}</code>
      </p>
    </>
  );
}

interface StartProps {
  onClose: () => void;
  onStarted: (travel: TravelView) => void;
}

function StartDialog({ onClose, onStarted }: StartProps) {
  const { busy, problem, run } = useAction();
  const hidden = state.value.vaults.filter(({ safeForTravel }) => !safeForTravel);
  return (
    <Dialog title={m.travelStartTitle} onClose={onClose}>
      <p>{hidden.length === 0 ? m.travelNothing : m.travelStartText}</p>
      {hidden.length > 0 && (
        <ul>
          {hidden.map(({ id, name }) => (
            <li key={id}>{name}</li>
          ))}
        </ul>
      )}
      <Problem text={problem} />
      <p class="buttons">
        <button class="primary" disabled={busy} onClick={() => run(async () => onStarted(await call("startTravel")))}>
          {m.travelStart}
        </button>
        <button onClick={onClose}>{m.cancel}</button>
      </p>
    </Dialog>
  );
}

function Stop({ onStopped }: { onStopped: (travel: TravelView) => void }) {
  const given = useProof();
  const { busy, problem, waitSeconds, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => onStopped(await given.prove((proof) => call("stopTravel", proof))));
  };
  return (
    <form onSubmit={submit}>
      <p>{m.travelStopWhy}</p>
      <ProofFields given={given} />
      <Problem text={waitSeconds > 0 ? m.rateLimited(waitSeconds) : problem} />
      <p class="buttons">
        <button class="primary" disabled={busy || waitSeconds > 0}>
          {m.travelStop}
        </button>
        <code class="command">{m.travelCommandOff}</code>
      </p>
    </form>
  );
}

/** A device is told when it connects: one that was not used since the start may still hold a copy. */
function Devices({ travel: { devices, enabled, since } }: { travel: TravelView }) {
  const late = (lastUsedAt: string): boolean => enabled && since !== null && Date.parse(lastUsedAt) < Date.parse(since);
  return (
    <section>
      <h2>{m.devices}</h2>
      <p class="hint">{m.devicesWhy}</p>
      <ul class="devices">
        {devices.map(({ name, lastUsedAt, current }, at) => (
          <li key={at}>
            <span>
              {name}
              {current && ` (${m.thisDevice})`}
            </span>
            <span class="hint">{m.lastUsed(momentOf(lastUsedAt))}</span>
            {late(lastUsedAt) && !current && <span class="problem">{m.notSince}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
