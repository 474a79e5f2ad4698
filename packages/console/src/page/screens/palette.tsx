import { useEffect, useId, useLayoutEffect, useState } from "preact/hooks";
import { recordCommand } from "../../commands.ts";
import { m } from "../../messages/messages.ts";
import { folded } from "../../order.ts";
import type { PagePath } from "../../paths.ts";
import { copyOf } from "../copy-record.ts";
import { Dialog } from "../parts/dialog.tsx";
import { chooseOrganization, organizations, refreshOrganizations } from "../organizations.ts";
import { go, place } from "../router.ts";
import { call, records, state, wanted } from "../store.ts";

interface Action {
  name: string;
  /** The key that does it; empty without one. */
  key: string;
  /** The command that does it; empty without one. */
  command: string;
  run: () => void;
}

const screens: readonly (readonly [path: PagePath, name: string, command: string])[] = [
  ["/", m.allRecords, "coffer record ls"],
  ["/to-do", m.toDo, ""],
  ["/folders", m.folders, "coffer folder ls"],
  ["/matrix", m.matrix, m.matrixCommand],
  ["/machines", m.machines, m.machinesCommand],
  ["/people", m.people, "coffer member ls"],
  ["/audit", m.audit, "coffer audit ls"],
  ["/destinations", m.destinationsTitle, "coffer siem ls"],
  ["/organization", m.organizationLabel, m.organizationShowCommand],
  ["/travel", m.travel, m.travelCommand],
  ["/import", m.transferTitle, m.importCommand],
  ["/join", m.joinTitle, m.joinCommand],
  ["/account", m.account, m.sessionsCommand],
  ["/trust", m.trustTitle, m.trustCommand],
  ["/about", m.about, m.aboutCommand(location.origin)],
];

/** So many records are offered. */
const mostRecords = 8;

interface PaletteProps {
  onHelp: () => void;
  onClose: () => void;
}

/** Screen 21: every screen and action by its name, with its key and its command. */
export function Palette({ onHelp, onClose }: PaletteProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const shown = found(text, onHelp);
  const current = Math.min(at, shown.length - 1);
  useLayoutEffect(
    () => document.getElementById(`${list}-${String(current)}`)?.scrollIntoView({ block: "nearest" }),
    [current],
  );
  useEffect(() => {
    refreshOrganizations().catch(() => undefined);
  }, []);
  const act = (action: Action | undefined): void => {
    if (action === undefined) return;
    onClose();
    action.run();
  };
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      setAt((current + step + shown.length) % shown.length);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      act(shown[current]);
    }
  };
  return (
    <Dialog title={m.palette} hasInput={false} onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label={m.paletteHint}
        aria-expanded={true}
        aria-controls={list}
        aria-activedescendant={`${list}-${String(current)}`}
        autocomplete="off"
        spellcheck={false}
        autofocus
        placeholder={m.paletteHint}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      {shown.length === 0 && <p role="status">{m.nothingFound}</p>}
      <ul class="palette" id={list} role="listbox" aria-label={m.palette}>
        {shown.map((action, index) => (
          <li
            key={`${action.name} ${String(index)}`}
            id={`${list}-${String(index)}`}
            role="option"
            aria-selected={index === current}
            onClick={() => act(action)}
          >
            <span>{action.name}</span>
            {action.command !== "" && <code class="command">{action.command}</code>}
            {action.key !== "" && <kbd>{action.key}</kbd>}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** The entries that copy from the open record. */
function ofRecord(): Action[] {
  const record = records.value.get(place.value.openId ?? "");
  if (record === undefined) return [];
  const command = recordCommand(record.name);
  return [
    ...(record.username === ""
      ? []
      : [{ name: m.copyUser, key: "u", command, run: () => void copyOf("username", record) }]),
    ...(record.hasPassword
      ? [{ name: m.copyPassword, key: "c", command, run: () => void copyOf("password", record) }]
      : []),
    ...(record.hasCode ? [{ name: m.copyCode, key: "t", command, run: () => void copyOf("code", record) }] : []),
  ];
}

/** Opens a dialog of the records. */
function open(dialog: "new-vault" | "new-record"): void {
  go({ path: "/" });
  const { path, openId } = place.value;
  // Unless the person stays with unsaved input.
  if (path === "/" && openId === null) wanted.value = dialog;
}

/** The actions whose names hold each typed word, then the records. */
function found(text: string, onHelp: () => void): Action[] {
  const words = folded(text)
    .split(/\s+/)
    .filter((word) => word !== "");
  const actions: Action[] = [
    ...ofRecord(),
    ...screens.map(([path, name, command]) => ({ name, key: "", command, run: () => go({ path }) })),
    ...organizations.value.organizations
      .filter(({ id }) => id !== organizations.value.current)
      .map(({ id, name }) => ({
        name: m.organizationSwitch(name),
        key: "",
        command: "--org",
        run: () => void chooseOrganization(id),
      })),
    { name: m.newVault, key: "", command: m.noVaultCommand, run: () => open("new-vault") },
    ...(state.value.vaults.some(({ permission, problem }) => permission !== "read" && problem === null)
      ? [{ name: m.newRecord, key: "n", command: "coffer record create", run: () => open("new-record") }]
      : []),
    { name: m.help, key: "?", command: "coffer --help", run: onHelp },
    { name: m.lock, key: "l", command: "", run: () => void call("lock") },
    { name: m.signOut, key: "", command: "coffer logout", run: () => void call("signOut") },
  ];
  const named = actions.filter(({ name }) => words.every((word) => folded(name).includes(word)));
  if (words.length === 0) return named;
  const fitting = [...records.value.values()].filter(({ searched }) => words.every((word) => searched.includes(word)));
  return [
    ...named,
    ...fitting.slice(0, mostRecords).map(({ id, name, username }) => ({
      name: [name || m.untitled, username].filter((part) => part !== "").join(" · "),
      key: "",
      command: "",
      run: () => go({ path: "/", openId: id }),
    })),
  ];
}
