import { signal } from "@preact/signals";

const shown = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;
const shownMilliseconds = 4000;

/** Tells the person what has happened, also through a screen reader. */
export function toast(text: string): void {
  shown.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => (shown.value = ""), shownMilliseconds);
}

export function Toast() {
  return (
    <div role="status" class={shown.value === "" ? "toast" : "toast shown"}>
      {shown.value}
    </div>
  );
}
