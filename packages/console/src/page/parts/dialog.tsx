import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { mayLeave } from "../use-unsaved.ts";

interface DialogProps {
  title: string;
  /** Whether it can hold input that is stored nowhere. Without it, closing it loses nothing. */
  hasInput?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog. Escape closes it, unless the person wants to keep what is typed; the focus returns to where it was. */
export function Dialog({ title, hasInput = true, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const id = useId();
  // A field of the dialog takes the focus before the effect runs.
  const { current: before } = useRef(document.activeElement);
  // At once: what the person types next is for the dialog.
  useLayoutEffect(() => {
    const { current: element } = dialog;
    element?.showModal();
    return () => {
      isGone.current = true;
      // An open dialog keeps the focus from everything outside it.
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        if (hasInput && !mayLeave()) event.preventDefault();
      }}
      onClose={() => {
        if (!isGone.current) onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
