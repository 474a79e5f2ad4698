const placeholders =
  /example|changeme|your[_-]|dummy|x{6}|0{6}|12345|\$\{\w{0,64}\}|\{\{[^}]{0,64}\}\}|%[a-z_]\w{0,63}%|<[a-z _-]{1,64}>|\*{3}|\.{3}/i;

/** Whether a text stands where a credential will be, as documentation and templates write it. */
export function isPlaceholder(text: string): boolean {
  return placeholders.test(text) || (text.length < shortText && fillers.test(text)) || isRegular(text);
}

/**
 * In a longer random text they are no sign: one of a thousand random texts of 64 hex digits has
 * four zeros.
 */
const fillers = /x{4}|0{4}/i;
const shortText = 32;
const leastSequence = 10;
const mostPeriod = 16;

/**
 * Whether a text follows a pattern: a few characters, the alphabet in order, or a short part again
 * and again.
 */
function isRegular(text: string): boolean {
  return isRepeated(text) || hasSequence(text) || isPeriodic(text);
}

/** Characters in the order of their codes, such as `abcdefghij`. */
function hasSequence(text: string): boolean {
  let length = 1;
  for (let at = 1; at < text.length && length < leastSequence; at += 1)
    length = text.charCodeAt(at) === text.charCodeAt(at - 1) + 1 ? length + 1 : 1;
  return length >= leastSequence;
}

/** One part of up to 16 characters that fills the text at least twice, such as `deadbeefdeadbeef`. */
function isPeriodic(text: string): boolean {
  for (let period = 1; period <= mostPeriod && 2 * period <= text.length; period += 1)
    if (text.length >= 12 && text.startsWith(text.slice(period))) return true;
  return false;
}

/** At most three different characters in a text of at least 12. */
function isRepeated(text: string): boolean {
  return text.length >= 12 && new Set(text).size <= 3;
}
