import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { HolderView, Permission, Rotated, Shared, SharingView } from "../../../protocol/sharing.ts";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Question } from "../../parts/question.tsx";
import { RotatedNotice } from "../../parts/organization/rotate-notice.tsx";
import { go } from "../../router.ts";
import { call, state } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";

const permissions = (["read", "write", "manage"] as const).map((each) => [each, m.permissions[each]] as const);

interface SharingProps {
  shared: Shared & { name: string; permission: string };
}

/** Screen 6: who has a vault, and what each may do. */
export function SharingDialog({ shared, onClose }: SharingProps & { onClose: () => void }) {
  return (
    <Dialog title={m.sharingTitle(shared.name)} onClose={onClose}>
      <Sharing shared={shared}>
        <button onClick={onClose}>{m.close}</button>
      </Sharing>
    </Dialog>
  );
}

/** Screen 11: the members and machines of a folder, on its screen. */
export function SharingSection({ shared }: SharingProps) {
  const title = m.sharingTitle(shared.name);
  return (
    <section class="apart" aria-label={title}>
      <h3>{title}</h3>
      <Sharing shared={shared} />
    </section>
  );
}

/** The members, and for a manager the way to add, change and remove them. `children`: more buttons. */
function Sharing({ shared: { kind, id, permission: own }, children }: SharingProps & { children?: ComponentChildren }) {
  const { view: sharing, show, problem: failure } = useLoad(() => call("sharing", { kind, id }), [id]);
  const [leaving, setLeaving] = useState<HolderView | null>(null);
  const [rotated, setRotated] = useState<Rotated | null>(null);
  const { busy, problem, run } = useAction();
  const give = (userId: string, permission: Permission): void =>
    run(async () => show(await call("share", { kind, id, userId, permission })));
  const end = (userId: string): void =>
    run(async () => {
      const ended = await call("unshare", { kind, id, userId });
      show(ended.sharing);
      setRotated(ended.rotated);
      setLeaving(null);
    });
  const mayManage = own === "manage";
  return (
    <>
      <p class="hint">{m.sharingWhy}</p>
      {sharing !== null && (
        <>
          <ul class="members" aria-label={m.members}>
            {sharing.holders.map((holder) => (
              <li key={holder.id}>
                <Holder
                  holder={holder}
                  busy={busy}
                  mayChange={mayManage && holder.kind === "user" && holder.id !== state.value.user?.id}
                  onPermission={(permission) => give(holder.id, permission)}
                  onRemove={() => setLeaving(holder)}
                />
              </li>
            ))}
          </ul>
          {leaving !== null && (
            <Question
              title={m.memberRemoveTitle(leaving.name)}
              text={m.memberRemoveText(leaving.name)}
              action={m.memberRemove}
              busy={busy}
              onYes={() => end(leaving.id)}
              onNo={() => setLeaving(null)}
            />
          )}
          {rotated !== null && <RotatedNotice rotated={rotated} />}
          {mayManage && <Add colleagues={sharing.colleagues} busy={busy} onAdd={give} />}
        </>
      )}
      <Problem text={failure ?? problem} />
      <p class="buttons">
        {children}
        <code class="command">{m.sharingCommand(kind)}</code>
      </p>
    </>
  );
}

interface HolderProps {
  holder: HolderView;
  busy: boolean;
  mayChange: boolean;
  onPermission: (permission: Permission) => void;
  onRemove: () => void;
}

function Holder({ holder, busy, mayChange, onPermission, onRemove }: HolderProps) {
  const { kind, id, name, permission, problem, ended } = holder;
  const trouble = ended ? m.memberEnded : problem === null ? null : m.memberProblems[problem];
  return (
    <>
      <span>
        {name}
        {kind === "client" && ` (${m.machine})`}
        {id === state.value.user?.id && ` (${m.you})`}
      </span>
      {mayChange && !ended ? (
        <Choice
          label={m.permissionOf(name)}
          value={permission}
          options={permissions}
          disabled={busy}
          onChoose={onPermission}
        />
      ) : (
        <span class="hint">{m.permissions[permission]}</span>
      )}
      {mayChange && (
        <button disabled={busy} aria-label={m.memberRemoveTitle(name)} onClick={onRemove}>
          {m.memberRemove}
        </button>
      )}
      {trouble !== null && <span class="problem">{trouble}</span>}
    </>
  );
}

interface AddProps {
  colleagues: SharingView["colleagues"];
  busy: boolean;
  onAdd: (userId: string, permission: Permission) => void;
}

function Add({ colleagues, busy, onAdd }: AddProps) {
  const [chosen, setChosen] = useState("");
  const [permission, setPermission] = useState<Permission>("read");
  if (colleagues.length === 0)
    return (
      <p class="hint">
        {m.noColleagues} <button onClick={() => go({ path: "/people" })}>{m.people}</button>{" "}
        <code>{m.inviteCommand}</code>
      </p>
    );
  const userId = colleagues.some(({ id }) => id === chosen) ? chosen : (colleagues[0]?.id ?? "");
  const submit = (event: Event): void => {
    event.preventDefault();
    onAdd(userId, permission);
  };
  return (
    <form class="add-member" onSubmit={submit}>
      <Choice
        label={m.colleague}
        value={userId}
        options={colleagues.map(({ id, email }) => [id, email])}
        onChoose={setChosen}
      />
      <Choice label={m.permission} value={permission} options={permissions} onChoose={setPermission} />
      <button class="primary" disabled={busy}>
        {m.share}
      </button>
    </form>
  );
}
