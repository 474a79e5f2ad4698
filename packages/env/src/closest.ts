import leven from "leven";

/** The names nearest to a text, the nearest first: at most `most`, by the number of letters to change. */
export function closest(text: string, names: readonly string[], most: number): string[] {
  return names
    .map((name) => ({ name, distance: leven(text, name) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ name }) => name);
}
