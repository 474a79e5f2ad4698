import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * The element takes the focus when it appears, so that keyboard and screen reader begin at what is new. It needs a
 * `tabIndex`. A field that has taken the focus keeps it.
 */
export function useFocus<Element extends HTMLElement>(): RefObject<Element | null> {
  const element = useRef<Element>(null);
  useEffect(() => {
    if (!(document.activeElement instanceof HTMLInputElement)) element.current?.focus();
  }, []);
  return element;
}
