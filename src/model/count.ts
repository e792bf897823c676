/** Nothing that Cursor counts comes near it, and SQLite adds up a million of it exactly. */
export const COUNT_MAX = 2 ** 40
