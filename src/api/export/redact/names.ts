import {
  averageWord,
  digits,
  hasDigit,
  hasLetter,
  isAddress,
  isDescription,
  isPath,
  isPhrase,
  isPlaceholder,
  isRandomWord,
} from './values.ts'

/** What the last words of a name say about its value: any word can be a password, but a key looks random. */
export type NameKind = 'password' | 'key' | null

/** A name ends with one of these; `nameKind` looks at the whole name. */
export const NAMES =
  'pass(?:w(?:or)?d|phrase|code)?|pwd|pswd|psk|secret|token|credential|creds|auth(?:orization)?|pat|pw|key'
/** What can come after: a plural, a number, or where the value is used. */
export const ENDING =
  '(?:s|[_.-]?(?:\\d{1,3}|base|value|prod(?:uction)?|dev(?:elopment)?|stag(?:e|ing)|test|live|default|old|new|data))?'

const ending = /(?:\d+|base|value|prod|production|dev|development|stag|stage|staging|test|live|default|old|new|data)$/
const password = /(?:passw(?:or)?d|passphrase|passcode|pwd|pswd|psk)s?$/
/** A name of these is a password too if the letters before are no word, as in `dbpass`. */
const shortPassword = /(?<!by|com|tres|sur|encom|over|under|multi)pass$/
/** The secret of an application is often chosen by a person. */
const secret =
  /(?:secrets?|secretkeys?|encrypt(?:ion)?keys?|sign(?:ing|ature)keys?|cookiekeys?|sessionkeys?|secretaccesskeys?)$/
const key =
  /(?:tokens?|credentials?|creds|auth|authorization|(?:api|app|application|access|private|auth|admin|account|storage|shared|service|server|subscription|license|licence|deploy|client|consumer|cipher|crypto|hmac|jwt|ssh|rsa|aes|webhook|master|root|write|ingest|integration|rest|routing|functions?|host|project|preshared|data)keys?)$/
/** Tokens of parsers, pages, models and frameworks. */
const harmless =
  /^(?:next|page|continuation|continue|cancel(?:lation)?|design|syntax|sync|eos|bos|pad|unk|mask|sep|cls|special|injection|max|min|num|total|prompt|completion|input|output|reasoning|cached?|per|stop)tokens?$/

const UPPER = /^[A-Z][A-Z0-9_]*$/

/** The words of a name, joined: `dbPass`, `DB_PASS` and `db.pass` are `dbpass`; where it is used is left out. */
function lastWords(name: string): { readonly joined: string; readonly pair: string; readonly last: string } {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  if (words.length > 1 && ending.test(words.at(-1) ?? '')) words.pop()
  const last = (words.at(-1) ?? '').replace(/\d+$/, '')
  return { joined: `${words.slice(-3, -1).join('')}${last}`, pair: `${words.at(-2) ?? ''}${last}`, last }
}

export function nameKind(name: string): NameKind {
  const { joined, pair, last } = lastWords(name)
  if (harmless.test(pair)) return null
  if (last === 'pat') return 'key'
  if (last === 'pw') return 'password'
  if (password.test(joined) || shortPassword.test(last) || secret.test(joined)) return 'password'
  if (key.test(joined)) return 'key'
  // `STRIPE_KEY` and `stripeKey`, but not `key`.
  return last.endsWith('key') &&
    joined !== last &&
    !/(?:public|primary|foreign|sort|cache|object|row|hash)key$/.test(joined)
    ? 'key'
    : null
}

/** How a value stands after its name. */
export type Form =
  /** Between quotes, or between signs that do the same. */
  | 'quoted'
  /** Directly after an equals sign, as in a file of settings or a command. */
  | 'setting'
  /** After a colon or a space, as in YAML, prose and code. */
  | 'bare'

export interface Named {
  readonly name: string
  readonly value: string
  readonly form: Form
  /** A few signs before the name and after the value. */
  readonly before: string
  readonly after: string
}

/** Whether a value that stands after a name is a secret. In doubt it is one. */
export function isNamedValue({ name, value, form, before, after }: Named): boolean {
  const kind = nameKind(name)
  const isVariable = UPPER.test(name.replace(/^.*[.:-]/, ''))
  if (kind === null || !(kind === 'password' ? isPassword(value, form, after) : isKey(value, form, isVariable)))
    return false
  // A pattern, not a token.
  if (/pat$/i.test(name) && !/^[\w-]{20,}$/.test(value)) return false
  // The folder of a shell.
  if (/pwd$/i.test(name) && /^(?:[~/.]|[a-z]:[\\/])/i.test(value)) return false
  if (isPlaceholder(value) || isDescription(value) || isPath(value) || (kind === 'key' && isAddress(value)))
    return false
  return form === 'quoted' || !isCode(value, { name, before, after, isVariable: isVariable && form === 'setting' })
}

/** The same for the value of an object's key. */
export const isNamedSecret = (name: string, value: string): boolean =>
  isNamedValue({ name: name.slice(-100), value, form: 'quoted', before: '', after: '' })

function isPassword(value: string, form: Form, after: string): boolean {
  if (value.length < 4) return false
  if (/\s/.test(value)) return isPhrase(value)
  if (/^\d+[,;.]?$/.test(value)) return form === 'bare' ? value.length >= 6 : true
  if (form !== 'bare') return true
  if (hasDigit(value) && hasLetter(value)) return value.length >= 6
  // A word alone can be prose: it must end its line, or have signs that no word has.
  return (
    /[#@!%^*$+~]/.test(value) ||
    /^[\w.]+(?:-[\w.]+){2,}$/.test(value) ||
    /^(?:["'<]|\\+["']|[ \t]*(?:[\r\n#]|\\+[rn]|$))/.test(after)
  )
}

function isKey(value: string, form: Form, isVariable: boolean): boolean {
  if (value.length < 8 || /\s/.test(value)) return false
  if (hasDigit(value) && hasLetter(value)) return form !== 'bare' || digits(value) > 1
  if (!hasLetter(value)) return false
  return isRandomWord(value) || (isVariable && form === 'setting')
}

interface Place {
  readonly name: string
  readonly before: string
  readonly after: string
  /** A variable of the environment has no code as its value. */
  readonly isVariable: boolean
}

const PATH_OF_NAMES = /^(?:[a-z_$][\w$]*[?!]?(?:\[[^\]]*\])?(?:\.|->|::))+[a-z_$][\w$]*[?!]?[,;)]*$/i
const TYPE =
  /^(?:(?:Optional|List|Array|Promise|Mapped|Union|Vec|Option|Option|Set|Map|Dict|Partial|Record|Secret|Ref|[A-Z]\w*)[[<(]|&?(?:mut )?str\b|&'?\w+\b|Uint\d+Array|Int\d+Array|Base64|Secret(?:Str|String|Key)\b)/

/** An expression or a type of a program, whose value is not in the text. */
function isCode(text: string, { name, before, after, isVariable }: Place): boolean {
  const value = text.replace(/[,;)\]}]+$/, '')
  if (isVariable) return /^[a-z_$][\w$.]*\(.*\)$/i.test(value.length < text.length ? text.replace(/[,;]+$/, '') : value)
  if (/^[[({<>|&*=?]/.test(value) || /^[@:!]\w*$/.test(value) || /=>|\|\||&&|\?\?/.test(value)) return true
  if (/^[a-z_$][\w$.]*[([]/i.test(value) || TYPE.test(value)) return true
  if (PATH_OF_NAMES.test(value)) return !/[a-z]\d+[a-z]\w*$/i.test(value)
  if (/^\/.+\/[gimsuy]*$/.test(value)) return true
  // `const password = input`, `password: hashedPassword`, `login(user, password=given)`.
  if (/\b(?:const|let|var|val|auto)\s+[\w$]*$/.test(before)) return true
  if (/^[a-z]+(?:[A-Z][a-z]+)+\d?$/.test(value) && averageWord(value) >= 3.5) return true
  if (/^\w+$/.test(value) && /[a-z][A-Z]/.test(value) && nameKind(value) !== null) return true
  if (!/^[a-z_$][a-z_$]*\d?$/i.test(value)) return false
  if (name.endsWith(value)) return true
  return /^[A-Z][a-z]+(?:[A-Z][a-z]+)*$/.test(value) || value.length < text.length || /^\s*[,;)(=+&|?\]}]/.test(after)
}
