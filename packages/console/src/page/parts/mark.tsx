import { m } from "../../messages/messages.ts";

/** The product's sign and name. */
export function Mark() {
  return (
    <span class="mark">
      <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
        <rect width="32" height="32" rx="7" class="mark-ground" />
        <path d="M22 11.5a7.5 7.5 0 1 0 0 9" class="mark-line" />
        <circle cx="15.5" cy="16" r="2.25" class="mark-dot" />
      </svg>
      <span class="mark-name">{m.product}</span>
    </span>
  );
}
