import table from './rules.json' with { type: 'json' }

/** Raised whenever a rule changes: what was shared by older rules is then shared again. */
export const REDACTION_VERSION = table.version

/** Compiled from a row of the table. */
export interface SecretRule {
  /** The name that replaces the secret. */
  readonly kind: string
  /** Global, or sticky in a group. If it ends with a group `secret`, only that group is masked. */
  readonly shape: RegExp
  /** Rejects texts that have the form and are no secret. */
  readonly isSecret: (secret: string, match: RegExpExecArray) => boolean
}

/** Rules whose secrets all begin where one search finds something. It is made once instead of hundreds of times. */
export interface RuleGroup {
  /** Global. */
  readonly begins: RegExp
  /** Rejects some of these places at little cost. */
  readonly isBegin: (found: RegExpExecArray) => boolean
  readonly rules: readonly SecretRule[]
}

/** Whether a text can be a secret at all, whatever its name. */
const hasDigit = (text: string): boolean => /\d/.test(text)
const hasLetter = (text: string): boolean => /[a-z]/i.test(text)
const digits = (text: string): number => text.replaceAll(/\D/g, '').length
/** `./keys/a1.pem`, `C:\keys\a1.pem`: the path of a key is no secret. */
const isPath = (text: string): boolean => /^(?:\.{1,2}\/|~\/|[a-z]:\\)[^:*?<>|]*$/i.test(text)
const isRandom = (text: string): boolean => hasDigit(text) && hasLetter(text) && !isPlaceholder(text) && !isPath(text)

/** A path, a URL, or the address of a secret in a safe. */
const isAddress = (text: string): boolean =>
  isPath(text) ||
  /^(?:\/[a-z][\w.-]*){2,}\/?$/i.test(text) ||
  /^(?:https?|file|op|arn|vault|ssm|awssm|gcpsm|projects|secret|env|ref):?[/:]/i.test(text) ||
  /^[\w.+-]+@[\w-]+\.[\w.-]+$/.test(text)

/** Letters without words: long and in one case, or with capitals where no word begins. */
const isRandomWord = (text: string): boolean =>
  /^[a-z]+$/i.test(text) && text.length >= 16 && (/^(?:[a-z]+|[A-Z]+)$/.test(text) || averageWord(text) < 3.5)

const averageWord = (text: string): number => text.length / (text.match(/[A-Z]+[a-z]*|[a-z]+/g)?.length ?? 1)

/** Texts that stand for a value. Each must match as a whole, because a secret may begin with any of these signs. */
const placeholders = table.placeholders.map(({ pattern, anyCase }) => new RegExp(pattern, anyCase === true ? 'i' : ''))
/** Shapes of names, and of the words around them. */
const shapes = Object.fromEntries(
  Object.entries(table.names).map(([name, { pattern }]) => [name, new RegExp(pattern, 'i')]),
) as Readonly<Record<keyof typeof table.names, RegExp>>
/** What is filled in later. */
const variables = /[$#%]?\{\{[^{}]*\}\}|[$#%]?\{[^{}]*\}|\$\([^()]*\)|<[^<>]*>|%\w+%|%[sdrv]/g

const PLACEHOLDER_LENGTH_MAX = 200

/** `${NAME:-default}`: the default can be a secret. */
const withDefault = /^\$\{\w+:?[-=](?<value>[^{}]+)\}$/

function isPlaceholder(text: string): boolean {
  if (text.length > PLACEHOLDER_LENGTH_MAX) return false
  const value = withDefault.exec(text)?.groups?.['value']
  if (value !== undefined) return isPlaceholder(value)
  if (placeholders.some((shape) => shape.test(text))) return true
  const left = text.replaceAll(variables, '')
  return left !== text && (left.length < 6 || !hasDigit(left) || !hasLetter(left))
}

const ordinaryWords = new Set(table.words.join(' ').split(' '))
const { ADJECTIVES, NAMED, NOUNS } = table.parts
/** A name of such a value: `new-password`, `auth.accessToken`, `password_hash`. */
const description = new RegExp(
  `^(?:(?:${ADJECTIVES})[-_. :/]?)*(?:${NAMED})s?\\d?(?:[-_. :/]?(?:${NOUNS}))*\\d?[?!]?$`,
  'i',
)

function isDescription(text: string): boolean {
  const value = text.replace(/^[.#]|[.,;:!?)\]}]+$/g, '')
  return value.length < 60 && (ordinaryWords.has(value.toLowerCase()) || description.test(value))
}

/** `correct horse battery staple`, but not `Enter a password`. */
const isPhrase = (text: string): boolean =>
  text.length <= 100 && /^\S+(?: \S+){1,11}$/.test(text) && !shapes.sentence.test(text)

/** A text that stands where only a secret stands. */
const isGiven = (value: string): boolean => value.length >= 3 && !isPlaceholder(value) && !isDescription(value)

/** What the last words of a name say about its value: any word can be a password, but a key looks random. */
function nameKind(name: string): 'password' | 'key' | null {
  // `dbPass`, `DB_PASS` and `db.pass` are alike. Where it is used is left out.
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  if (words.length > 1 && shapes.ending.test(words.at(-1) ?? '')) words.pop()
  const last = (words.at(-1) ?? '').replace(/\d+$/, '')
  const joined = `${words.slice(-3, -1).join('')}${last}`
  if (shapes.harmless.test(`${words.at(-2) ?? ''}${last}`)) return null
  if (last === 'pat') return 'key'
  if (last === 'pw' || shapes.password.test(joined) || shapes.shortPassword.test(last) || shapes.secret.test(joined))
    return 'password'
  // `STRIPE_KEY` and `stripeKey`, but not `key`.
  const isOfSomething = last.endsWith('key') && joined !== last && !shapes.harmlessKey.test(joined)
  return shapes.key.test(joined) || isOfSomething ? 'key' : null
}

/**
 * How a value stands after its name. `quoted`: between quotes, or signs that do the same. `setting`: directly after an equals
 * sign, as in a file of settings or a command. `bare`: after a colon or a space, as in YAML, prose and code.
 */
type Form = 'quoted' | 'setting' | 'bare'

/** A name and what stands around it and its value: a few signs before the name and after the value. */
interface Place {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** Whether a value that stands after a name is a secret. In doubt it is one. */
function isNamedValue(value: string, form: Form, { name, before, after }: Place): boolean {
  const kind = nameKind(name)
  // A variable of the environment.
  const isSetting = form === 'setting' && /^[A-Z][A-Z0-9_]*$/.test(name.replace(/^.*[.:-]/, ''))
  if (kind === null || !(kind === 'password' ? isPassword(value, form, after) : isKey(value, form, isSetting)))
    return false
  // A pattern, not a token.
  if (/pat$/i.test(name) && !/^[\w-]{20,}$/.test(value)) return false
  // The folder of a shell.
  if (/pwd$/i.test(name) && /^(?:[~/.]|[a-z]:[\\/])/i.test(value)) return false
  if (isPlaceholder(value) || isDescription(value) || isPath(value) || (kind === 'key' && isAddress(value)))
    return false
  if (form === 'quoted') return true
  return !(isSetting ? isCall(value) : isCode(value, { name, before, after }))
}

/** The same for the value of an object's key. */
export const isNamedSecret = (name: string, value: string): boolean =>
  isNamedValue(value, 'quoted', { name: name.slice(-100), before: '', after: '' })

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

function isKey(value: string, form: Form, isSetting: boolean): boolean {
  if (value.length < 8 || /\s/.test(value)) return false
  if (hasDigit(value) && hasLetter(value)) return form !== 'bare' || digits(value) > 1
  return hasLetter(value) && (isRandomWord(value) || isSetting)
}

/** `createToken(a)` */
const isCall = (value: string): boolean => /^[a-z_$][\w$.]*\(.*\)$/i.test(value.replace(/[,;]+$/, ''))

const PATH_OF_NAMES = /^(?:[a-z_$][\w$]*[?!]?(?:\[[^\]]*\])?(?:\.|->|::))+[a-z_$][\w$]*[?!]?[,;)]*$/i
const TYPE =
  /^(?:(?:Optional|List|Array|Promise|Mapped|Union|Vec|Option|Option|Set|Map|Dict|Partial|Record|Secret|Ref|[A-Z]\w*)[[<(]|&?(?:mut )?str\b|&'?\w+\b|Uint\d+Array|Int\d+Array|Base64|Secret(?:Str|String|Key)\b)/

/** An expression or a type of a program, whose value is not in the text. */
function isCode(text: string, { name, before, after }: Place): boolean {
  const value = text.replace(/[,;)\]}]+$/, '')
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

const BEFORE = 60
const AFTER = 20

/** The whole name is what the shape found, and the letters before it. */
function placeOf(match: RegExpExecArray): Place {
  const { index, input, groups } = match
  const end = index + match[0].length
  const before = input.slice(Math.max(0, index - BEFORE), index)
  const first = before.split(/[^\w.$@-]/).at(-1) ?? ''
  return { name: `${first}${groups?.['name'] ?? match[0]}`, before, after: input.slice(end, end + AFTER) }
}

const lastWord = (before: string): string => /(\w+)[ _-]$/.exec(before)?.[1] ?? ''

/** Whether what stands before a name, or its last word, makes it the name of a secret. */
function isSecretName(found: RegExpExecArray): boolean {
  const { name, before } = placeOf(found)
  return nameKind(name) !== null || nameKind(`${lastWord(before)}_${found[0]}`) !== null
}

/** Names of calls that are asked for a secret, by a name or a path. */
const ASKS =
  /(?:^|[._])(?:get|use|read|find|fetch|load|lookup|resolve|inject|select|query|by|label|test|describe|it|has|is|delete|remove|create|require|import|expect|t|translate|label|field|column|string|varchar)[A-Z_.]?\w*$/

function isSaid(given: string, match: RegExpExecArray): boolean {
  const value = given.replace(/[.,;:!?)]+$/, '')
  const { name, before, after } = placeOf(match)
  const kind = nameKind(`${lastWord(before)}_${name}`)
  if (kind === null || !isGiven(value)) return false
  if (!hasLetter(value)) return kind === 'password' && hasDigit(value) && value.length >= 6
  // `set the password to Hunter2`, but not `the password to authenticate`.
  if (!hasDigit(value) && /\sto\s+["'`*]*[^\s]+$/.test(match[0])) return false
  if (kind === 'key')
    return value.length >= 10 && isRandom(value) && !/^v?\d+(?:\.\d+)*$/.test(value) && !shapes.algorithm.test(value)
  if (hasDigit(value))
    return (
      value.length >= 6 &&
      isRandom(value) &&
      !shapes.algorithm.test(value) &&
      !/^(?:argon|v)-?\d+|^\d+-?[a-z]+$/i.test(value)
    )
  if ((match.groups?.['mark'] ?? '') !== '') return value.length >= 4
  if (/^[\w]+(?:-\w+){2,}$/.test(value)) return true
  return /^[a-z]{6,}$/i.test(value) && !shapes.adjective.test(value) && /^\s*(?:[\r\n"'\\]|$)/.test(after)
}

/** What no pattern can say. The first five look at the secret alone, the others at how it follows its name. */
const checks: Readonly<Record<string, SecretRule['isSecret']>> = {
  real: (secret) => !isPlaceholder(secret),
  given: isGiven,
  random: isRandom,
  /** After `Bearer`: any word can stand there. */
  dense: (value) => hasDigit(value) || isRandomWord(value),
  /** `ada:pw` in Base64. */
  basic: (value) => /^[\x21-\x7e]{1,200}:[\x20-\x7e]{1,400}$/.test(Buffer.from(value, 'base64').toString('latin1')),
  quoted: (value, match) => isNamedValue(value, 'quoted', placeOf(match)),
  setting: (value, match) => isNamedValue(value, 'setting', { ...placeOf(match), after: '' }),
  unquoted(value, match) {
    const place = placeOf(match)
    // Parameters of a URL have a rule of their own, which knows their end.
    if (/[?&][\w.-]*$/.test(place.before)) return false
    return isNamedValue(value, /^:?=$/.test(match.groups?.['joiner'] ?? '') ? 'setting' : 'bare', place)
  },
  argument(value, match) {
    const place = placeOf(match)
    const call = match.groups?.['call']
    if (/\s/.test(value) || (call === undefined && ASKS.test(place.name))) return false
    if (call !== undefined && !hasDigit(value) && !shapes.gives.test(call)) return false
    return isNamedValue(value, 'quoted', place)
  },
  flag(value, match) {
    if (/^[-(]/.test(value) || /^[A-Z][A-Z_]*$/.test(value) || !isGiven(value)) return false
    const kind = nameKind(placeOf(match).name.replace(/^-+/, ''))
    if (kind === 'password') return true
    return kind === 'key' && value.length >= 6 && (isRandom(value) || /^[\w.-]{12,}$/.test(value))
  },
  said: isSaid,
  /** `password Hunter2`, but not `password VARCHAR(255)`, `password line2` and `token 12`. */
  saidDirectly(value, match) {
    const mustBeLong = /token|secret|key/i.test(match.groups?.['name'] ?? '')
    if (!hasDigit(value) || (mustBeLong && (value.length < 20 || digits(value) < 2))) return false
    return !/[(|]/.test(value) && !/^(?:\d+[a-z-]*|[a-z]+\d{0,2})[:.,;)]?$/.test(value) && isSaid(value, match)
  },
}

/**
 * A row of `rules.json`. All repetitions of a pattern are bounded, so that no text makes it backtrack for long. `{NAME}` is
 * one of the table's `parts`. A token may be longer or shorter than its vendor says, because formats change.
 */
interface Row {
  readonly kind: string
  readonly pattern: string
  /** The case of letters does not matter, in `must` and `not` either. */
  readonly anyCase?: boolean
  /** A name in `checks`. */
  readonly check?: string
  /** Patterns of what the secret must, and must not contain. */
  readonly must?: string
  readonly not?: string
  /** A pattern of names, in any case, after which nothing is a secret. */
  readonly notName?: string
  /** A text with such a secret, and one that looks alike and has none. `{hex:32}` stands for 32 random signs, so that no scanner reports the table. */
  readonly example: string
  readonly harmless: string
  readonly note?: string
}

const parts: Readonly<Record<string, string>> = table.parts

const expanded = (pattern: string): string =>
  pattern.replaceAll(/\{([A-Z]+)\}/g, (_, name: string) => expanded(parts[name] ?? ''))

function compile(row: Row, flag: 'g' | 'y'): SecretRule {
  const letters = row.anyCase === true ? 'i' : ''
  const [must, not] = [row.must, row.not].map((each) => (each === undefined ? null : new RegExp(each, letters)))
  const notName = row.notName === undefined ? null : new RegExp(row.notName, 'i')
  const check = row.check === undefined ? null : checks[row.check]
  if (check === undefined) throw new Error(`rules.json: ${row.kind} has the unknown check ${row.check}`)
  return {
    kind: row.kind,
    shape: new RegExp(expanded(row.pattern), `${flag}${letters}`),
    isSecret: (secret, match) =>
      must?.test(secret) !== false &&
      not?.test(secret) !== true &&
      notName?.test(match.groups?.['name'] ?? '') !== true &&
      check?.(secret, match) !== false,
  }
}

const compileTable = () => ({
  /** Secrets that are known by their own look: they are looked for in long words only. */
  tokens: {
    begins: new RegExp(
      `(?<![A-Za-z0-9])(?=[A-Za-z0-9$])(?:${table.tokens.map(({ pattern }) => pattern).join('|')})`,
      'g',
    ),
    isBegin: () => true,
    rules: table.tokens.map((row) => compile(row, 'y')),
  },
  /** Secrets that follow their name, in every spelling of files, programs and people. */
  named: {
    begins: new RegExp(expanded(table.named.begins), 'gi'),
    isBegin: isSecretName,
    rules: table.named.rules.map((row) => compile(row, 'y')),
  },
  /** Secrets that are known by something else around them. */
  others: table.others.map((row) => compile(row, 'g')),
})

let rules: ReturnType<typeof compileTable> | null = null

/** Compiled when masking is first needed. */
export const secretRules = () => (rules ??= compileTable())
