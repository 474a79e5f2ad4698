import { useEffect, useState } from "preact/hooks";

interface SwitchProps {
  on: boolean;
  /** Whether the change runs. */
  busy: boolean;
  disabled?: boolean;
  onSwitch: (on: boolean) => void;
}

/** A checkbox whose change takes a moment. It shows what was chosen meanwhile, and the truth afterwards. */
export function Switch({ on, busy, disabled = false, onSwitch }: SwitchProps) {
  const [wanted, setWanted] = useState<boolean | null>(null);
  useEffect(() => {
    if (!busy) setWanted(null);
  }, [busy]);
  const change = (): void => {
    setWanted(!on);
    onSwitch(!on);
  };
  return <input type="checkbox" checked={wanted ?? on} disabled={busy || disabled} onChange={change} />;
}
