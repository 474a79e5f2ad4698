import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { ApplicationsView, MachineView } from "../../../protocol/machines.ts";
import type { ToRotate } from "../../../protocol/sharing.ts";
import { momentOf } from "../../dates.ts";
import { Empty } from "../../parts/empty.tsx";
import { MachineTokenSheet } from "../../parts/platform/machine-token.tsx";
import type { MadeToken } from "../../parts/platform/machine-token.tsx";
import { NewMachine } from "../../parts/platform/new-machine.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Question } from "../../parts/question.tsx";
import { RotateNotice } from "../../parts/organization/rotate-notice.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { toast } from "../../parts/toast.tsx";
import { place } from "../../router.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";

/** Screens 13 and 14: applications with their machines, and tokens for new ones. */
export function Machines() {
  const texts = { not_found: m.noOrganization, access_denied: m.machinesNotYours };
  const { view, show, reload, problem } = useLoad(() => call("applications"), [], texts);
  const [chosen, setChosen] = useState<string | null>(null);
  const [rotate, setRotate] = useState<ToRotate[]>([]);
  const [made, setMade] = useState<MadeToken | null>(null);
  const showToken = (token: MadeToken): void => {
    setMade(token);
    reload();
  };
  const applications = view?.applications.toSorted((a, b) => a.name.localeCompare(b.name)) ?? [];
  const application = applications.find(({ id }) => id === (chosen ?? place.value.openId)) ?? applications[0];
  return (
    <Page title={m.machines} problem={problem} wide>
      {view !== null && application === undefined && (
        <Empty title={m.noApplicationTitle} text={m.noApplication} command={m.tokenCommand} />
      )}
      {applications.length > 0 && (
        <Tabs
          label={m.application}
          tabs={applications.map(({ id, name }) => [id, name])}
          current={application?.id}
          onChoose={setChosen}
        />
      )}
      <RotateNotice rotate={rotate} />
      {made !== null && <MachineTokenSheet made={made} onClose={() => setMade(null)} />}
      {view !== null && application !== undefined && (
        <Application
          key={application.id}
          isQuiet={made !== null}
          application={application}
          folders={view.folders}
          onMade={showToken}
          onRotate={setRotate}
          onRemoved={(removed) => {
            show(removed.view);
            setRotate(removed.rotate);
          }}
        />
      )}
      {view !== null && view.folders.length === 0 && <p class="hint">{m.noFolderToGive}</p>}
      {view !== null && application === undefined && made === null && view.folders.length > 0 && (
        <NewMachine folders={view.folders} onMade={showToken} />
      )}
    </Page>
  );
}

interface ApplicationProps {
  application: { id: string; name: string };
  folders: ApplicationsView["folders"];
  /** A token is shown: no form for another. */
  isQuiet: boolean;
  onMade: (made: MadeToken) => void;
  onRotate: (rotate: ToRotate[]) => void;
  onRemoved: (removed: { view: ApplicationsView; rotate: ToRotate[] }) => void;
}

function Application({ application: { id, name }, folders, isQuiet, onMade, onRotate, onRemoved }: ApplicationProps) {
  // Again when a token was shown: it is among the open ones.
  const { view, show, problem: failure } = useLoad(() => call("application", id), [isQuiet]);
  const [leaving, setLeaving] = useState<MachineView | "all" | null>(null);
  const { busy, problem, run } = useAction();
  const revoke = (clientId: string): void =>
    run(async () => {
      const revoked = await call("revokeMachine", { applicationId: id, clientId });
      show(revoked.application);
      onRotate(revoked.rotate);
      setLeaving(null);
    });
  const machines = view?.machines.toSorted((a, b) => (a.status < b.status ? -1 : a.name.localeCompare(b.name))) ?? [];
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {view !== null && machines.length === 0 && <p class="hint">{m.noMachine}</p>}
      <ul class="members" aria-label={m.machines}>
        {machines.map((machine) => (
          <li key={machine.id}>
            <Machine machine={machine} busy={busy} onRevoke={() => setLeaving(machine)} />
          </li>
        ))}
      </ul>
      {leaving === "all" && (
        <Question
          title={m.removeApplication(name)}
          text={m.removeApplicationText(name)}
          action={m.remove}
          busy={busy}
          onYes={() => run(async () => onRemoved(await call("removeApplication", id)))}
          onNo={() => setLeaving(null)}
        />
      )}
      {leaving !== null && leaving !== "all" && (
        <Question
          title={m.revokeOf(leaving.name, leaving.id)}
          text={m.revokeText(leaving.name)}
          action={m.revoke}
          busy={busy}
          onYes={() => revoke(leaving.id)}
          onNo={() => setLeaving(null)}
        />
      )}
      {view !== null && view.tokens.length > 0 && (
        <>
          <h3>{m.openTokens}</h3>
          <ul class="members">
            {view.tokens.map((token) => (
              <li key={token.id}>
                <span>{token.name}</span>
                <span class="hint">{m.until(momentOf(token.expiresAt))}</span>
                <button
                  disabled={busy}
                  aria-label={m.withdrawToken(token.name)}
                  onClick={() =>
                    run(async () => {
                      const { application, closed } = await call("withdrawToken", { applicationId: id, id: token.id });
                      show(application);
                      if (!closed) toast(m.withdrawnByServiceOnly);
                    })
                  }
                >
                  {m.withdraw}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      <Problem text={failure ?? problem} />
      {folders.length > 0 && !isQuiet && <NewMachine folders={folders} application={name} onMade={onMade} />}
      <p class="buttons">
        <button class="danger" disabled={busy} onClick={() => setLeaving("all")}>
          {m.removeApplication(name)}
        </button>
        <code class="command">{m.machinesCommand}</code>
      </p>
    </section>
  );
}

interface MachineProps {
  machine: MachineView;
  busy: boolean;
  onRevoke: () => void;
}

function Machine({ machine, busy, onRevoke }: MachineProps) {
  const { id, name, status, words, lastUsedAt, ip, expiresAt, folders } = machine;
  return (
    <>
      <strong>{name}</strong>
      <span class={status === "active" ? "good" : "hint"}>{m.machineStatus[status]}</span>
      {status === "active" && (
        <button disabled={busy} aria-label={m.revokeOf(name, id)} onClick={onRevoke}>
          {m.revoke}
        </button>
      )}
      <p class="hint whole">
        {lastUsedAt === null ? m.neverSeen : m.lastSeen(momentOf(lastUsedAt), ip)}
        {expiresAt !== null && ` · ${m.endsAt(momentOf(expiresAt))}`}
      </p>
      <p class="hint whole">
        {folders.map((folder) => m.machineFolder(folder.name, m.permissions[folder.permission])).join(" · ")}
      </p>
      <p class="hint whole">
        {m.machineWords(words)} · <span class="mono">{id}</span>
      </p>
    </>
  );
}
