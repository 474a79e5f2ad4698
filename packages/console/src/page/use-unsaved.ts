import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { m } from "../messages/messages.ts";

/** Whether the screen has input that is stored nowhere. */
const unsaved = signal(false);

addEventListener("beforeunload", (event) => {
  if (unsaved.value) event.preventDefault();
});

/** While `isUnsaved`, the person is asked before the input is lost. */
export function useUnsaved(isUnsaved: boolean): void {
  // At once: the next key may be Escape.
  useLayoutEffect(() => {
    unsaved.value = isUnsaved;
    return () => void (unsaved.value = false);
  }, [isUnsaved]);
}

/** To be called before leaving a screen whose input was just saved. */
export function inputSaved(): void {
  unsaved.value = false;
}

/** Whether the screen may be left: nothing is lost, or the person agrees. */
export function mayLeave(): boolean {
  if (unsaved.value && !confirm(m.discard)) return false;
  unsaved.value = false;
  return true;
}
