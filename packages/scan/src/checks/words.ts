const least = 20;
const leastWithDigits = 30;
/** Words with a capital, also with a number as in `OAuth2`, and versions such as `V4`. */
const camelCase = /^[a-z]{0,20}(?:[A-Z]{1,4}[a-z]{2,20}[0-9]{0,2}|[A-Z]{1,3}[0-9]{1,2})+$/;

/**
 * Whether a text of at least 20 characters is a name such as `AlibabaCloudOpenSearchSettings` or
 * `default_token_provider`: letters with few capitals, in a longer text also versions. One of ten
 * thousand random texts is like that.
 */
export function isWords(text: string): boolean {
  if (text.length < least) return false;
  const capitals = text.replace(/[^A-Z]/g, "").length;
  if (/^[A-Za-z_-]+$/.test(text)) return capitals <= text.length / 5;
  return text.length >= leastWithDigits && capitals <= text.length / 4 && camelCase.test(text);
}
