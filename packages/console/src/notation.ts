/** The name of one field of a secret, for programs. Safe between single quotes of a shell. */
export function notationOf(folder: string, title: string, field: string): string {
  return `coffer://${part(folder)}/${part(title)}/field/${part(field)}`;
}

function part(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
