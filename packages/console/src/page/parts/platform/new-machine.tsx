import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { Choice } from "../choice.tsx";
import { Field } from "../field.tsx";
import type { MadeToken } from "./machine-token.tsx";
import { Problem } from "../problem.tsx";

type Given = "none" | "read" | "write";

interface NewMachineProps {
  /** The folders to choose from. A single one is given with `read`. */
  folders: readonly { id: string; name: string }[];
  application?: string;
  onMade: (made: MadeToken) => void;
}

const hourMilliseconds = 60 * 60 * 1000;
/** In hours. The service takes at most seven days. */
const tokenLives = [
  ["1", m.oneHour],
  ["24", m.days(1)],
  ["168", m.days(7)],
] as const;
/** In days. */
const machineLives = ["", "30", "90", "365"].map(
  (days) => [days, days === "" ? m.withoutEnd : m.days(Number(days))] as const,
);

/** The form that makes a one-time token for a machine. */
export function NewMachine({ folders, application: first = "", onMade }: NewMachineProps) {
  const [application, setApplication] = useState(first);
  const [given, setGiven] = useState<Record<string, Given>>({});
  const [networks, setNetworks] = useState("");
  const [hours, setHours] = useState<(typeof tokenLives)[number][0]>("24");
  const [days, setDays] = useState("");
  const { busy, problem, run } = useAction();
  const isOne = folders.length === 1;
  const givenOf = (id: string): Given => given[id] ?? (isOne ? "read" : "none");
  const chosen = folders.flatMap(({ id, name }) => {
    const permission = givenOf(id);
    return permission === "none" ? [] : [{ folderId: id, name, permission }];
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const wish = {
        application: application.trim(),
        folders: chosen.map(({ folderId, permission }) => ({ folderId, permission })),
        networks: networks.split(/[\s,]+/).filter((each) => each !== ""),
        expiresAt: after(Number(hours)),
        machineExpiresAt: days === "" ? null : after(Number(days) * 24),
      };
      onMade({ ...(await call("createMachineToken", wish)), folder: chosen[0]?.name ?? "" });
    });
  };
  const permissions = [
    ...(isOne ? [] : [["none", m.notGiven] as const]),
    ["read", m.permissions.read] as const,
    ["write", m.permissions.write] as const,
  ];
  return (
    <form onSubmit={submit}>
      <h3>{m.newMachine}</h3>
      <p class="hint">{m.newMachineWhy}</p>
      <Field label={m.application} value={application} onInput={setApplication} hint={m.applicationHint} required />
      <ul class="members" aria-label={m.permission}>
        {folders.map(({ id, name }) => (
          <li key={id}>
            <span>{name}</span>
            <Choice
              label={m.machinePermissionOn(name)}
              value={givenOf(id)}
              options={permissions}
              onChoose={(permission) => setGiven({ ...given, [id]: permission })}
            />
          </li>
        ))}
      </ul>
      <details>
        <summary>{m.limits}</summary>
        <Field label={m.networks} value={networks} onInput={setNetworks} hint={m.networksHint} mono />
        <ul class="members" aria-label={m.limits}>
          <li>
            <span>{m.tokenLife}</span>
            <Choice label={m.tokenLife} value={hours} options={tokenLives} onChoose={setHours} />
          </li>
          <li>
            <span>{m.machineLife}</span>
            <Choice label={m.machineLife} value={days} options={machineLives} onChoose={setDays} />
          </li>
        </ul>
      </details>
      <Problem text={problem} />
      <p class="buttons">
        <button disabled={busy || chosen.length === 0}>{m.makeToken}</button>
        <code class="command">{m.tokenCommand}</code>
      </p>
    </form>
  );
}

function after(hours: number): string {
  return new Date(Date.now() + hours * hourMilliseconds).toISOString();
}
