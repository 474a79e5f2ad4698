/** Calls `work` at once, and then not again for `milliseconds`. */
export function throttled(milliseconds: number, work: () => void): () => void {
  let last = -Infinity;
  return () => {
    const now = performance.now();
    if (now - last < milliseconds) return;
    last = now;
    work();
  };
}
