import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * The element takes the focus when it appears, so that keyboard and screen reader begin at what is new. It needs a
 * `tabIndex`. A field that has taken the focus keeps it, unless `fromFields`: what was sent with it has an answer.
 */
export function useFocus<Element extends HTMLElement>({ fromFields = false } = {}): RefObject<Element | null> {
  const element = useRef<Element>(null);
  useLayoutEffect(() => {
    if (fromFields || !(document.activeElement instanceof HTMLInputElement)) element.current?.focus();
  }, []);
  return element;
}
