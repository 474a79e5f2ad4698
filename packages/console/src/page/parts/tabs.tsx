interface TabsProps<Key extends string> {
  label: string;
  tabs: readonly (readonly [key: Key, text: string])[];
  current: Key | undefined;
  onChoose: (key: Key) => void;
}

/** A row of buttons of which one is chosen. */
export function Tabs<Key extends string>({ label, tabs, current, onChoose }: TabsProps<Key>) {
  return (
    <ul class="tabs" aria-label={label}>
      {tabs.map(([key, text]) => (
        <li key={key}>
          <button aria-current={key === current} onClick={() => onChoose(key)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}
