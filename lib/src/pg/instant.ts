// Instants and durations as milliseconds of a number, in SQL.

/** Multiplied as numeric: in float8 a whole millisecond would not always come back as itself, and some instants are keys. */
export const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

export const interval = (parameter: string): string => `make_interval(secs => ${parameter}::float8 / 1000)`;
