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
const placeholders: readonly RegExp[] = [
  // Masked already; some show the last characters.
  /^[x*.•…_-]+$/i,
  /^(?:x{4,}|\*{4,}|•{4,})[-\w]{0,4}$/i,
  /^(?:[a-z]{2,6}[-_])+(?:x{3,}|\*{3,}|\.{3,}|…)[-\w]{0,4}$/i,
  /^\[(?:masked|redacted|filtered|hidden|removed|secret|your|token|password)/i,
  /^(.)\1+$/,
  // Cut in its middle.
  /^[\w-]{0,10}(?:\.{3}|…)[\w-]{0,10}$/,
  // A colour.
  /^#(?:[0-9a-f]{3,4}){1,2};?$/i,
  // Words, with short numbers as in a list.
  /^(?:your|my-?your|example|sample|dummy|change.?(?:me|it)|replace.?(?:me|this|with)|placeholder|redacted|insert|enter|paste|put|todo|tbd)[a-z]*\d{0,4}(?:[-_. ][a-z]*\d{0,4})*$/i,
  /^[a-z]+(?:[-_ ][a-z]+)*[-_ ](?:here|goes[-_ ]here|placeholder|example)$/i,
  // A variable: in braces, between signs, or `$` and a name that no generator makes.
  /^\$(?:env:)?(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+\d{0,2}|\d{1,2})$/,
  /^\$[a-z_]\w*(?:(?:->|\.|::)\w+|\[[^\]]*\]?)+$/i,
  /^%(?:\(\w+\))?[a-z]$/,
  /^[:@][a-z_]+\d{0,2}$/i,
  /^(?:[$#%]\{|\{\{|\$\(|<%)[^})]*$/,
  // Code that reads the value.
  /^(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|env|ENV|secrets|vars?|local|data)(?:\.[a-z_]\w*)*(?:\[[^[\]]*\]?|\([^()]*\)?)?$/i,
]
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

const WORDS = new Set(
  `string str text varchar char number integer int bool boolean bytes buffer object array list dict map any unknown never
  void true false null none nil undefined nan optional required mandatory missing invalid incorrect wrong valid empty
  expired revoked disabled enabled hidden visible unset blank default type types field fields input value values
  password passwords passwd secret secrets token tokens key keys credentials username email login basic bearer digest
  negotiate ntlm jwt oauth oauth2 apikey include omit same-origin session cookie header query body form plain plaintext
  bcrypt scrypt argon2 argon2id argon2i pbkdf2 sha1 sha256 sha512 md5 base64 utf8 utf-8 hmac aes256 rsa2048 ed25519 hex
  self this super return break continue throw throws await async new not lambda function yield typeof delete if else
  const let var final static public private protected readonly case when with from import export the and or is to for of in on at be are was
  as by it its a an that which must should will can may has have use using make sure see same different stored set sent
  too protected-by manager options flags args arguments authenticate split reset change changed confirm confirmation option flag argument parameter parameters instead
  autocomplete current-password new-password one-time-code case-sensitive read-only write-only base64-encoded
  user-provided server-side client-side up-to-date out-of-date failed passed ok yes no success error`.split(/\s+/),
)

const NAMED = 'password|passwd|passphrase|pwd|pass|token|secret|key|credential|auth'
const ADJECTIVES =
  'new|current|old|secret|confirm|repeat|verify|reset|forgot|forgotten|change|update|user|client|admin|auth|access|refresh|api|session|csrf|xsrf|bearer|id|jwt|login|signin|app|your|my|the|a|input|hashed|encrypted|plain|raw|valid|invalid|wrong|missing|bad|empty|no|get|set|is|has|show|toggle|enter|temp|temporary|db|database|private|public|shared|github|webhook|errors?|auth|form|label|placeholder|validation|settings?|account|profile'
const NOUNS =
  'field|input|hash|hashed|name|id|type|reset|confirm|confirmation|label|error|required|invalid|changed|updated|strength|policy|file|path|ref|provider|service|manager|store|url|expired|missing|title|placeholder|hint|length|visible|form|page|new|value'
/** A name of such a value: `new-password`, `auth.accessToken`, `password_hash`. */
const description = new RegExp(
  `^(?:(?:${ADJECTIVES})[-_. :/]?)*(?:${NAMED})s?\\d?(?:[-_. :/]?(?:${NOUNS}))*\\d?[?!]?$`,
  'i',
)

export function isDescription(text: string): boolean {
  const value = text.replace(/^[.#]|[.,;:!?)\]}]+$/g, '')
  return value.length < 60 && (WORDS.has(value.toLowerCase()) || description.test(value))
}

/** Words of a sentence about a secret. */
const SENTENCE =
  /\b(?:the|a|an|is|are|must|should|your|you|be|to|of|for|and|or|not|has|have|at|least|please|enter|min|max|characters?|required|invalid|password|token|secret|key|with|in|this|that|no|new|old|current)\b/i

/** `correct horse battery staple`, but not `Enter a password`. */
export const isPhrase = (text: string): boolean =>
  text.length <= 100 && /^\S+(?: \S+){1,11}$/.test(text) && !SENTENCE.test(text)
