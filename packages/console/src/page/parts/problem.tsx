/** An error that belongs to a whole form. */
export function Problem({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
