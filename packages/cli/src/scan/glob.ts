/**
 * Whether a path fits a glob: `*` within a name, `**` over folders, `?` one character. Without a
 * slash any folder fits.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const anchored = glob.replace(/^\//, "").replace(/\/$/, "/**");
  const whole = anchored.includes("/") ? anchored : `**/${anchored}`;
  const source = whole.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (part) => {
    if (part === "**/") return "(?:[^/]{1,255}/){0,64}";
    if (part === "**") return "[^]{0,4096}";
    if (part === "*") return "[^/]{0,255}";
    return part === "?" ? "[^/]" : `\\${part}`;
  });
  const pattern = new RegExp(`^${source}(?:$|/)`);
  return (path) => pattern.test(path);
}
