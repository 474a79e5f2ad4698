import { m } from "../../messages/messages.ts";
import { Dialog } from "../parts/dialog.tsx";

const keys: readonly [keys: string, name: keyof typeof m.keyNames][] = [
  ["/", "search"],
  ["↑ ↓", "move"],
  ["Enter", "openRecord"],
  ["c", "password"],
  ["u", "user"],
  ["t", "code"],
  ["e", "edit"],
  ["n", "new"],
  ["l", "lock"],
  ["?", "help"],
  ["Ctrl K", "palette"],
  ["Esc", "escape"],
];

const commands = [
  "coffer login --email you@example.com",
  "coffer vault ls",
  'coffer vault create "Private"',
  'coffer vault share "Team" colleague@example.com',
  'coffer record ls --vault "Private"',
  "coffer invite create colleague@example.com",
  "coffer folder create production",
  "coffer set coffer://production/database/field/password",
  "coffer totp on",
  "coffer audit verify",
  "coffer sync",
  "coffer logout",
];

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={m.help} hasInput={false} onClose={onClose}>
      <h3>{m.helpKeys}</h3>
      <dl class="keys">
        {keys.map(([key, name]) => (
          <div key={name}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{m.keyNames[name]}</dd>
          </div>
        ))}
      </dl>
      <h3>{m.helpCommands}</h3>
      <ul class="commands">
        {commands.map((command) => (
          <li key={command}>
            <code>{command}</code>
          </li>
        ))}
      </ul>
      <p class="buttons">
        <button onClick={onClose}>{m.close}</button>
      </p>
    </Dialog>
  );
}
