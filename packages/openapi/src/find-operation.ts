import type { Operation } from "./description.ts";

/** Makes the function that finds the operation of a request: literal segments before parameters. */
export function createFind(operations: readonly Operation[]): (method: string, path: string) => Operation | undefined {
  const forms = operations
    .map((operation) => ({ operation, segments: operation.path.split("/") }))
    .toSorted((a, b) => parametersIn(a.segments) - parametersIn(b.segments));
  return (method, path) => {
    const wanted = method === "HEAD" ? "GET" : method;
    const segments = path.split("/");
    return forms.find(({ operation, segments: form }) => operation.method === wanted && matches(form, segments))
      ?.operation;
  };
}

/** The decoded values of a path's parameters; null for a malformed one. */
export function pathValues({ path: form }: Operation, path: string): Record<string, string | null> {
  const segments = path.split("/");
  return Object.fromEntries(
    form.split("/").flatMap((part, at) => (isParameter(part) ? [[part.slice(1, -1), decode(segments[at] ?? "")]] : [])),
  );
}

function matches(form: readonly string[], segments: readonly string[]): boolean {
  return (
    form.length === segments.length &&
    form.every((part, at) => (isParameter(part) ? segments[at] !== "" : part === segments[at]))
  );
}

function isParameter(part: string): boolean {
  return part.startsWith("{");
}

function parametersIn(segments: readonly string[]): number {
  return segments.filter(isParameter).length;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
