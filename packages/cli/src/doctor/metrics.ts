/**
 * The greatest value of a metric over its labels, in the Prometheus text format; undefined without
 * any.
 */
export function greatest(text: string, name: string): number | undefined {
  const found = valuesOf(text, name);
  return found.length === 0 ? undefined : Math.max(...found);
}

/** The sum of a metric's values over its labels; 0 without any. */
export function sum(text: string, name: string): number {
  return valuesOf(text, name).reduce((total, value) => total + value, 0);
}

function valuesOf(text: string, name: string): number[] {
  return text.split("\n").flatMap((line) => {
    if (!line.startsWith(name) || !/^[{ ]/.test(line.slice(name.length))) return [];
    const value = Number(/^(?:\{.*\})? (\S+)/.exec(line.slice(name.length))?.[1]);
    return Number.isNaN(value) ? [] : [value];
  });
}
