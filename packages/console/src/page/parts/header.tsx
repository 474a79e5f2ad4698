import { language, m } from "../../messages/messages.ts";
import type { PagePath } from "../../paths.ts";
import { go, place } from "../router.ts";
import { call, state } from "../store.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon.tsx";
import { Mark } from "./mark.tsx";

const places: readonly (readonly [path: PagePath, icon: IconName, label: string])[] = [
  ["/to-do", "todo", m.toDo],
  ["/folders", "folder", m.folders],
  ["/people", "people", m.people],
  ["/account", "user", m.account],
  ["/audit", "audit", m.audit],
  ["/travel", "travel", m.travel],
];

/** The product, how fresh everything is, and the way out. */
export function Header({ onHelp }: { onHelp: () => void }) {
  return (
    <header>
      <Mark />
      <ConnectionState />
      <span class="who">{state.value.user?.email}</span>
      {places.map(([path, icon, label]) => (
        <HeaderButton
          key={path}
          icon={icon}
          label={label}
          isCurrent={place.value.path === path}
          onClick={() => go({ path })}
        />
      ))}
      <HeaderButton icon="help" label={m.help} onClick={onHelp} />
      <HeaderButton icon="lock" label={m.lock} onClick={() => void call("lock")} />
      <HeaderButton icon="out" label={m.signOut} onClick={() => void call("signOut")} />
    </header>
  );
}

interface ButtonProps {
  icon: IconName;
  label: string;
  isCurrent?: boolean;
  onClick: () => void;
}

function HeaderButton({ icon, label, isCurrent = false, onClick }: ButtonProps) {
  return (
    <button
      class={`bare to-${icon}`}
      aria-label={label}
      aria-current={isCurrent ? "page" : undefined}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
      <span class="header-label">{label}</span>
    </button>
  );
}

function ConnectionState() {
  const { connection } = state.value;
  const text =
    connection.kind === "live"
      ? m.live
      : connection.kind === "connecting"
        ? m.connecting
        : m.away(connection.since === null ? null : timeOf(connection.since));
  return (
    <span class={`connection ${connection.kind}`} role="status">
      {text}
    </span>
  );
}

function timeOf(milliseconds: number): string {
  const sameDay = new Date(milliseconds).toDateString() === new Date().toDateString();
  const form: Intl.DateTimeFormatOptions = sameDay
    ? { timeStyle: "short" }
    : { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(language(), form).format(milliseconds);
}
