// SQL as text: what of it is code, and which statements that makes. No parser: quoted text, dollar quotes and comments are
// blanked, which is enough to see how a statement begins and what it says.

const quoted =
  /\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<!\w)\$((?:[A-Za-z_]\w*)?)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//g;
const control =
  /(^|;)\s*(begin|commit|end|abort|start\s+transaction|prepare\s+transaction|rollback(?!(\s+(work|transaction))?\s+to))\b/i;

/** The text without what is quoted and commented. */
export const bareSql = (text: string): string => text.replaceAll(quoted, " ");

/** Whether what `bareSql` left of a text would begin or end a transaction. */
export const controlsTransaction = (bare: string): boolean => control.test(bare);

/** The body of a function in standard SQL, which ends its own block, and each CASE in it. */
const body = /\bbegin\s+atomic\b(?:\bcase\b[\s\S]*?\bend\b|[\s\S])*?\bend\b/gi;

/** The statements of a text, bare, each on one line. */
export const statementsOf = (text: string): string[] =>
  bareSql(text)
    .replaceAll(body, " ")
    .split(";")
    .map((each) => each.replaceAll(/\s+/g, " ").trim())
    .filter((each) => each !== "");
