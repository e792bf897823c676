import table from './rules.json' with { type: 'json' }

/** Whether a text can be a secret at all, whatever its name. */
export const hasDigit = (text: string): boolean => /\d/.test(text)
export const hasLetter = (text: string): boolean => /[a-z]/i.test(text)
export const digits = (text: string): number => text.replaceAll(/\D/g, '').length
/** `./keys/a1.pem`, `C:\keys\a1.pem`: the path of a key is no secret. */
export const isPath = (text: string): boolean => /^(?:\.{1,2}\/|~\/|[a-z]:\\)[^:*?<>|]*$/i.test(text)
export const isRandom = (text: string): boolean =>
  hasDigit(text) && hasLetter(text) && !isPlaceholder(text) && !isPath(text)

/** A path, a URL, or the address of a secret in a safe. */
export const isAddress = (text: string): boolean =>
  isPath(text) ||
  /^(?:\/[a-z][\w.-]*){2,}\/?$/i.test(text) ||
  /^(?:https?|file|op|arn|vault|ssm|awssm|gcpsm|projects|secret|env|ref):?[/:]/i.test(text) ||
  /^[\w.+-]+@[\w-]+\.[\w.-]+$/.test(text)

/** Letters without words: long and in one case, or with capitals where no word begins. */
export const isRandomWord = (text: string): boolean =>
  /^[a-z]+$/i.test(text) && text.length >= 16 && (/^(?:[a-z]+|[A-Z]+)$/.test(text) || averageWord(text) < 3.5)

export const averageWord = (text: string): number => text.length / (text.match(/[A-Z]+[a-z]*|[a-z]+/g)?.length ?? 1)

/** Texts that stand for a value. Each must match as a whole, because a secret may begin with any of these signs. */
const placeholders = table.placeholders.map(({ pattern, anyCase }) => new RegExp(pattern, anyCase === true ? 'i' : ''))
/** What is filled in later. */
const variables = /[$#%]?\{\{[^{}]*\}\}|[$#%]?\{[^{}]*\}|\$\([^()]*\)|<[^<>]*>|%\w+%|%[sdrv]/g

const PLACEHOLDER_LENGTH_MAX = 200

/** `${NAME:-default}`: the default can be a secret. */
const withDefault = /^\$\{\w+:?[-=](?<value>[^{}]+)\}$/

export function isPlaceholder(text: string): boolean {
  if (text.length > PLACEHOLDER_LENGTH_MAX) return false
  const value = withDefault.exec(text)?.groups?.['value']
  if (value !== undefined) return isPlaceholder(value)
  if (placeholders.some((shape) => shape.test(text))) return true
  const left = text.replaceAll(variables, '')
  return left !== text && (left.length < 6 || !hasDigit(left) || !hasLetter(left))
}

const words = new Set(table.words.join(' ').split(' '))
const { ADJECTIVES, NAMED, NOUNS } = table.parts
/** A name of such a value: `new-password`, `auth.accessToken`, `password_hash`. */
const description = new RegExp(
  `^(?:(?:${ADJECTIVES})[-_. :/]?)*(?:${NAMED})s?\\d?(?:[-_. :/]?(?:${NOUNS}))*\\d?[?!]?$`,
  'i',
)

export function isDescription(text: string): boolean {
  const value = text.replace(/^[.#]|[.,;:!?)\]}]+$/g, '')
  return value.length < 60 && (words.has(value.toLowerCase()) || description.test(value))
}

/** Words of a sentence about a secret. */
const SENTENCE =
  /\b(?:the|a|an|is|are|must|should|your|you|be|to|of|for|and|or|not|has|have|at|least|please|enter|min|max|characters?|required|invalid|password|token|secret|key|with|in|this|that|no|new|old|current)\b/i

/** `correct horse battery staple`, but not `Enter a password`. */
export const isPhrase = (text: string): boolean =>
  text.length <= 100 && /^\S+(?: \S+){1,11}$/.test(text) && !SENTENCE.test(text)

/** A text that stands where only a secret stands. */
export const isGiven = (value: string): boolean => value.length >= 3 && !isPlaceholder(value) && !isDescription(value)

/** After `Bearer`: any word can stand there. */
export const isDense = (value: string): boolean => hasDigit(value) || isRandomWord(value)

/** `ada:pw` in Base64. */
export const isBasic = (value: string): boolean =>
  /^[\x21-\x7e]{1,200}:[\x20-\x7e]{1,400}$/.test(Buffer.from(value, 'base64').toString('latin1'))
