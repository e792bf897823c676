/** What stands for a value and is none, as a whole: a secret may begin with any of these signs. */
const placeholders: readonly RegExp[] = [
  // Blotted out already; some show how it ends.
  /^[x*.•…]+$/i,
  /^(?:x{4,}|\*{4,}|•{4,})[-\w]{0,4}$/i,
  /^(.)\1+$/,
  // Words, and numbers as short as those of a list.
  /^(?:your|example|change.?me|replace.?me|placeholder|redacted)[a-z]*\d{0,4}(?:[-_.][a-z]*\d{0,4})*$/i,
  // A variable: in braces, between signs, or with the one sign and a name that no generator makes.
  /^(?:[-_.:/]?(?:[$#%]?\{\{[^{}]*\}\}|[$#%]?\{[^{}]*\}|\$\([^()]*\)|<[^<>]*>|%\w+%))+$/,
  /^\$(?:env:)?(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+\d{0,2}|\d{1,2})$/,
  /^%(?:\(\w+\))?[a-z]$/,
  // Code that reads it.
  /^(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|env)(?:\.[a-z_]\w*)*(?:\[[^[\]]*\]|\([^()]*\))?$/i,
]

/** `${NAME:-what is taken where there is none}`: that can be a secret. */
const withDefault = /^\$\{\w+:?[-=](?<value>[^{}]+)\}$/

export function isPlaceholder(text: string): boolean {
  const value = withDefault.exec(text)?.groups?.['value']
  return value === undefined ? placeholders.some((shape) => shape.test(text)) : isPlaceholder(value)
}
