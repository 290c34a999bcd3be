// What text can hold. PostgreSQL's text has no NUL, and its driver would silently alter a lone surrogate, so both are
// refused before the database sees them; SQS allows still less. JSON escapes of such characters pass: they are text.

// eslint-disable-next-line no-control-regex
const outsideSqs = /[^\u0009\u000A\u000D\u0020-\uFFFD]/;

/** Whether PostgreSQL's `text` gives the string back unchanged. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

/** Whether SQS takes the string as the name of a group, a deduplication or a receive: 1 to 128 visible ASCII characters. */
export const isSqsName = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text);

/** Whether SQS takes the string as a message body (API_SendMessage: #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD, #x10000 and up). */
export const isSqsText = (text: string): boolean => !outsideSqs.test(text) && text.isWellFormed();

/** The text, cut, as PostgreSQL's `text` takes it: what it cannot hold would fail every write that it shares a commit with. */
export const storable = (text: string, length: number): string =>
  text.slice(0, length).toWellFormed().replaceAll("\0", "\uFFFD");

/** `1 message`, `2 messages`. */
export const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;
