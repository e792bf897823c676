/** A parsed JSON value, such as the input or output of a tool call. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The largest accepted count. Cursor's real counts are far below it, and SQLite can add up a million such numbers exactly. */
export const COUNT_MAX = 2 ** 40
