import { isDescription, isPlaceholder } from './values.ts'

/** The form of a secret. */
export interface SecretRule {
  /** The name that replaces the secret. */
  readonly kind: string
  /**
   * Global, or sticky in a group with `begins`. If it ends with a group `secret`, only that group is masked. All
   * repetitions are bounded, so that no text makes it backtrack for long.
   */
  readonly shape: RegExp
  /** A text with such a secret. `{hex:32}` stands for 32 random signs, as in the tokens of vendors. */
  readonly example: string
  /** A text that looks alike, of which nothing is masked. */
  readonly counterExample: string
  /** Rejects texts that have the form and are no secret. */
  readonly isSecret?: (secret: string, match: RegExpMatchArray) => boolean
}

/** A quote. JSON may be in JSON. */
export const QUOTE = String.raw`\\{0,15}["'\x60]`
/** Up to the same quote, whatever other quotes and escapes come before it, or to where a title was cut. */
export const QUOTED = String.raw`(?<quote>${QUOTE})(?<secret>(?:(?!\k<quote>)(?:\\{1,8}[^\s\\]|[^\s\\]| )){1,4096})(?=${QUOTE}|…(?:\n|$))`
/** What closes a name: a quote, the bracket of an index, or the sign of an optional property. */
export const CLOSE = String.raw`(?:\\{0,15}["'\x60])?[\])]{0,2}[?!]?`
/**
 * A shape looks at so much of an unquoted value, and the rest of the word belongs to it: else a text of names without
 * values would take long.
 */
export const VALUE_LENGTH = 256
/** Unquoted: up to a blank or a quote. An escaped end of a line ends it too. */
export const BARE = String.raw`(?:[^\s"'\x60\\;]|;(?!\s?[a-z][\w ]{1,40}=)|\\(?![nrt"'\x60\\])){1,${VALUE_LENGTH}}`
/** An argument of a command. */
export const WORD = String.raw`\\{0,15}["'\x60]?(?<secret>(?:[^\s"'\x60\\|;&<>]|\\(?![nrt"'\x60\\])){1,400})`

interface Given {
  readonly kind?: string
  readonly pattern: string
  /** Whether the case of letters matters. */
  readonly isExact?: boolean
  readonly example: string
  readonly counterExample: string
  readonly isSecret?: SecretRule['isSecret']
}

/** A text that stands where only a secret stands. */
export const isGiven = (value: string): boolean => value.length >= 3 && !isPlaceholder(value) && !isDescription(value)

export const toRule = ({
  pattern,
  isExact = false,
  isSecret = isGiven,
  kind = 'named-secret',
  ...examples
}: Given): SecretRule => ({
  kind,
  shape: new RegExp(pattern, isExact ? 'g' : 'gi'),
  isSecret,
  ...examples,
})
