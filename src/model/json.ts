/** What a tool call's input or output can be once parsed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
