/** What a tool call's input or output can be once parsed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Nothing that Cursor counts comes near it, and SQLite adds up a million of it exactly. */
export const COUNT_MAX = 2 ** 40
