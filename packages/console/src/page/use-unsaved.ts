import { useLayoutEffect, useRef } from "preact/hooks";
import { m } from "../messages/messages.ts";

/** The forms with input that is stored nowhere. */
const unsaved = new Set<object>();

addEventListener("beforeunload", (event) => {
  if (unsaved.size > 0) event.preventDefault();
});

/** While `isUnsaved`, the person is asked before the input is lost. */
export function useUnsaved(isUnsaved: boolean): void {
  const form = useRef({});
  // At once: the next key may be Escape.
  useLayoutEffect(() => {
    if (isUnsaved) unsaved.add(form.current);
    return () => void unsaved.delete(form.current);
  }, [isUnsaved]);
}

/** To be called before leaving a screen whose input was just saved. */
export function inputSaved(): void {
  unsaved.clear();
}

/** Whether the screen may be left: nothing is lost, or the person agrees. */
export function mayLeave(): boolean {
  if (unsaved.size > 0 && !confirm(m.discard)) return false;
  unsaved.clear();
  return true;
}
