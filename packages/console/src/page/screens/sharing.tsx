import { useEffect, useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { MemberView, Permission, SharingView, VaultSummary } from "../../protocol.ts";
import { explain } from "../explain.ts";
import { Choice } from "../parts/choice.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { Question } from "../parts/question.tsx";
import { call, state } from "../store.ts";
import { useAction } from "../use-action.ts";

const permissions = (["read", "write", "manage"] as const).map((each) => [each, m.permissions[each]] as const);

/** Screen 6: who has a vault, and what each may do. */
export function SharingDialog({ vault, onClose }: { vault: VaultSummary; onClose: () => void }) {
  const [sharing, setSharing] = useState<SharingView | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [leaving, setLeaving] = useState<MemberView | null>(null);
  const [without, setWithout] = useState<string[]>([]);
  const { busy, problem, run } = useAction();
  useEffect(() => {
    call("sharing", vault.id).then(setSharing, (error: unknown) => setFailure(explain(error)));
  }, [vault.id]);
  const give = (userId: string, permission: Permission): void =>
    run(async () => setSharing(await call("share", { vaultId: vault.id, userId, permission })));
  const end = (userId: string): void =>
    run(async () => {
      const ended = await call("unshare", { vaultId: vault.id, userId });
      setSharing(ended.sharing);
      setWithout(ended.without);
      setLeaving(null);
    });
  const mayManage = vault.permission === "manage";
  return (
    <Dialog title={m.sharingTitle(vault.name)} onClose={onClose}>
      <p class="hint">{m.sharingWhy}</p>
      {sharing !== null && (
        <>
          <ul class="members" aria-label={m.members}>
            {sharing.members.map((member) => (
              <li key={member.id}>
                <Member
                  member={member}
                  mayChange={mayManage && !busy && member.id !== state.value.user?.id}
                  onPermission={(permission) => give(member.id, permission)}
                  onRemove={() => setLeaving(member)}
                />
              </li>
            ))}
          </ul>
          {leaving !== null && (
            <Question
              title={m.memberRemoveTitle(leaving.email)}
              text={m.memberRemoveText(leaving.email)}
              action={m.memberRemove}
              busy={busy}
              onYes={() => end(leaving.id)}
              onNo={() => setLeaving(null)}
            />
          )}
          {without.length > 0 && (
            <p class="notice" role="status">
              {m.membersWithout(without.join(", "))}
            </p>
          )}
          {mayManage && <Add colleagues={sharing.colleagues} busy={busy} onAdd={give} />}
        </>
      )}
      <Problem text={failure ?? problem} />
      <p class="buttons">
        <button onClick={onClose}>{m.close}</button>
        <code class="command">{m.sharingCommand}</code>
      </p>
    </Dialog>
  );
}

interface MemberProps {
  member: MemberView;
  mayChange: boolean;
  onPermission: (permission: Permission) => void;
  onRemove: () => void;
}

function Member({ member: { id, email, permission, problem, ended }, mayChange, onPermission, onRemove }: MemberProps) {
  const trouble = ended ? m.memberEnded : problem === null ? null : m.memberProblems[problem];
  return (
    <>
      <span>
        {email}
        {id === state.value.user?.id && ` (${m.you})`}
      </span>
      {mayChange && !ended ? (
        <Choice label={m.permissionOf(email)} value={permission} options={permissions} onChoose={onPermission} />
      ) : (
        <span class="hint">{m.permissions[permission]}</span>
      )}
      {mayChange && (
        <button aria-label={m.memberRemoveTitle(email)} onClick={onRemove}>
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
        {m.noColleagues} <code>{m.inviteCommand}</code>
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
