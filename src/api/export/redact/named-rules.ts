import { ENDING, isNamedValue, nameKind, NAMES, type Form } from './names.ts'
import { BARE, CLOSE, isGiven, QUOTE, QUOTED, toRule, type SecretRule, VALUE_LENGTH, WORD } from './shapes.ts'
import { digits, hasDigit, hasLetter, isRandom } from './values.ts'

const NAME = `(?<name>(?:${NAMES})${ENDING})`
/** Where the rules of this file look: at names that something follows which joins them to a value. */
export const anyName = new RegExp(`(?:${NAMES})(?=${ENDING}[\\s\\\\"'\\x60\\])?!:=(,|<>&+-])`, 'gi')

const BEFORE = 60

/** The whole name: what the shape found, and the letters before it. */
function nameOf(match: RegExpMatchArray): { readonly name: string; readonly before: string } {
  const at = match.index ?? 0
  const text = match.input?.slice(Math.max(0, at - BEFORE), at) ?? ''
  const first = text.split(/[^\w.$@-]/).at(-1) ?? ''
  return { name: `${first}${match.groups?.['name'] ?? match[0]}`, before: text }
}

/** Whether what stands before a name, or its last word, makes it the name of a secret. */
export function isSecretName(found: RegExpExecArray): boolean {
  const { name, before } = nameOf(found)
  return nameKind(name) !== null || nameKind(`${lastWord(before)}_${found[0]}`) !== null
}

const lastWord = (before: string): string => /(\w+)[ _-]$/.exec(before)?.[1] ?? ''

const after = (match: RegExpMatchArray): string => {
  const end = (match.index ?? 0) + match[0].length
  return match.input?.slice(end, end + 20) ?? ''
}

const namedAs =
  (form: Form) =>
  (value: string, match: RegExpMatchArray): boolean =>
    isNamedValue({ ...nameOf(match), value, form, after: after(match) })

function isUnquoted(value: string, match: RegExpMatchArray): boolean {
  const { name, before } = nameOf(match)
  // Parameters of a URL have a rule of their own, which knows their end.
  if (/[?&][\w.-]*$/.test(before)) return false
  const form = /^(?:=|:=)$/.test(match.groups?.['joiner'] ?? '') ? 'setting' : 'bare'
  return isNamedValue({ name, before, value, form, after: after(match) })
}

/** Names of calls that are asked for a secret, by a name or a path. */
const ASKS =
  /(?:^|[._])(?:get|use|read|find|fetch|load|lookup|resolve|inject|select|query|by|label|test|describe|it|has|is|delete|remove|create|require|import|expect|t|translate|label|field|column|string|varchar)[A-Z_.]?\w*$/

/** Names of calls that are given a name and its value, or a name and a default. */
const GIVES =
  /(?:define|put|set|env|environ|environ\.get|config\.get|get_?or_?default|property|add|append|header|fill|type|variable)$/i

function isArgument(value: string, match: RegExpMatchArray): boolean {
  const { name } = nameOf(match)
  const call = match.groups?.['call']
  if (/\s/.test(value) || (call === undefined && ASKS.test(name))) return false
  if (call !== undefined && !hasDigit(value) && !GIVES.test(call)) return false
  return namedAs('quoted')(value, match)
}

function isFlag(value: string, match: RegExpMatchArray): boolean {
  if (/^[-(]/.test(value) || /^[A-Z][A-Z_]*$/.test(value) || !isGiven(value)) return false
  const kind = nameKind(nameOf(match).name.replace(/^-+/, ''))
  if (kind === 'password') return true
  return kind === 'key' && value.length >= 6 && (isRandom(value) || /^[\w.-]{12,}$/.test(value))
}

/** `password Hunter2`, but not `password VARCHAR(255)`, `password line2` and `token 12`. */
function isSaidDirectly(value: string, match: RegExpMatchArray): boolean {
  const isKey = /token|secret|key/i.test(match.groups?.['name'] ?? '')
  if (isKey && (value.length < 20 || digits(value) < 2)) return false
  return (
    hasDigit(value) &&
    !/[(|]/.test(value) &&
    !/^(?:\d+[a-z-]*|[a-z]+\d{0,2})[:.,;)]?$/.test(value) &&
    isSaid(value, match)
  )
}

/** How people describe a password in a sentence. */
const ADJECTIVE =
  /(?:ed|ing|able|ible|ful|less|ent|ive|al|ous|ary|ory|ly|ic|en)$|^(?:wrong|correct|invalid|valid|empty|missing|null|weak|strong|short|long|there|here|fine|safe|secure|unsafe|insecure|same|known|unknown|none|ready|good|bad|true|false|below|above|blank|unset|set|sent|kept|lost|stale|old|new|too|now|already|only|never|always|also|about|what|who|how|why|something|nothing|anything|everything)$/i

function isSaid(given: string, match: RegExpMatchArray): boolean {
  const value = given.replace(/[.,;:!?)]+$/, '')
  const { name, before } = nameOf(match)
  const kind = nameKind(`${lastWord(before)}_${name}`)
  if (kind === null || !isGiven(value)) return false
  if (!hasLetter(value)) return kind === 'password' && hasDigit(value) && value.length >= 6
  // `set the password to Hunter2`, but not `the password to authenticate`.
  if (!hasDigit(value) && /\sto\s+["'`*]*[^\s]+$/.test(match[0])) return false
  if (kind === 'key')
    return (
      value.length >= 10 && isRandom(value) && !/^v?\d+(?:\.\d+)*$|^(?:sha|md|utf|rfc|base|oauth)-?\d+/i.test(value)
    )
  if (hasDigit(value))
    return (
      value.length >= 6 && isRandom(value) && !/^(?:sha|md|utf|rfc|base|oauth|argon|v)-?\d+|^\d+-?[a-z]+$/i.test(value)
    )
  if ((match.groups?.['mark'] ?? '') !== '') return value.length >= 4
  if (/^[\w]+(?:-\w+){2,}$/.test(value)) return true
  return /^[a-z]{6,}$/i.test(value) && !ADJECTIVE.test(value) && /^\s*(?:[\r\n"'\\]|$)/.test(after(match))
}

/** Names before values, in every spelling of files, programs and people. */
export const namedRules: readonly SecretRule[] = [
  toRule({
    // A type may come between: `let password: &str = "…"`. So may an `or` with a default.
    pattern: String.raw`${NAME}${CLOSE}(?::[ \t]?[&\w<>[\]| .]{1,30}?)?[ \t]{0,4}(?:={1,3}|!==?|=>|:=|\?=|\+=|\|\||\?\?|or\b|:-|:|(?<=#define[ \t]{1,8}\w{1,60}[ \t]{1,4})|\{[^{}]{0,200}\bdefault\s{0,8}=)\s{0,20}[@$fbruNL]{0,2}${QUOTED}`,
    example: '"db_password" : "correct-horse-battery"',
    counterExample: 'password: "Enter your password"',
    isSecret: namedAs('quoted'),
  }),
  toRule({
    pattern: String.raw`${NAME}${CLOSE}(?<joiner>[ \t]{0,4}(?:=>|->|:=|[:=])[ \t]{0,4})(?:[|>][+-]?\s{1,20})?(?<secret>${BARE})`,
    example: 'password=Hunter2Hunter2',
    counterExample: 'password: string',
    isSecret: isUnquoted,
  }),
  toRule({
    // After a name that can only be a variable's: any sign belongs to the value, also a quote inside it. A line number,
    // a file name or the mark of a diff may come before the name.
    pattern: String.raw`(?<name>(?:${NAMES.toUpperCase()})${ENDING.toUpperCase().replaceAll('\\D', '\\d')})=(?<=(?<![^\s"'\x60|:+-])[A-Z0-9_]{1,100}=)(?<secret>[^\s"'\x60]{1,${VALUE_LENGTH}}(?:["'\x60](?![,;:)\]}]|\\+[nrt])[^\s"'\x60]{1,${VALUE_LENGTH}}){0,20})`,
    isExact: true,
    example: 'DB_PASS=shop-dev',
    counterExample: 'DB_PASS=${DB_PASS}',
    isSecret: (value, match) => isNamedValue({ ...nameOf(match), value, form: 'setting', after: '' }),
  }),
  toRule({
    pattern: String.raw`${NAME}(?<=[?&;][\w.[\]-]{1,60})=(?<secret>[^\s&#"'\x60<>\\]{1,${VALUE_LENGTH}})`,
    example: 'jdbc:mysql://db/shop?user=ada&password=opensesame&ssl=true',
    counterExample: '?token=${token}',
    isSecret: namedAs('quoted'),
  }),
  toRule({
    pattern: String.raw`${NAME}(?<=(?:^|[\s"'\x60([,;/])(?:--?[\w-]{1,60}|/\w{1,20}(?=:)))(?:[ \t]{1,4}|=|(?<=/\w{1,20}):|${QUOTE},\s{0,20}(?=\\{0,15}["']))${WORD}`,
    example: 'tool --password opensesame',
    counterExample: 'tool --password-stdin',
    isSecret: isFlag,
  }),
  toRule({
    // `.password("…")`, `define('DB_PASSWORD', '…')`, `getenv("PASSWORD", "…")`.
    pattern: String.raw`${NAME}(?<joiner>(?<=(?<call>[\w.]{1,60})\(\s{0,10}${QUOTE}[\w./#-]{1,80})${QUOTE}\s{0,4},\s{0,20}(?:default\s?=\s?)?|${QUOTE}\)\.(?:type|fill|send_?keys|set_?value)\(\s{0,4}|[ \t]{0,2}\(\s{0,20})[@$fbruNL]{0,2}${QUOTED}`,
    example: `setPassword('opensesame')`,
    counterExample: `getSecret('db-1')`,
    isSecret: isArgument,
  }),
  toRule({
    // A pair, as Kubernetes, XML and lists of parameters write it.
    pattern: String.raw`${NAME}(?<=(?:name|key|id)\\{0,15}["']?\s{0,4}[:=]\s{0,4}\\{0,15}["']?[\w.-]{1,80})\\{0,15}["']?[\s,]{1,40}(?:-\s)?\\{0,15}["']?value\\{0,15}["']?\s{0,4}[:=]\s{0,4}${WORD}`,
    example: '- name: DB_PASSWORD\n  value: opensesame',
    counterExample: 'name: DB_PASSWORD\n  valueFrom: x',
    isSecret: namedAs('quoted'),
  }),
  toRule({
    // In XML, such as the settings of Maven and NuGet.
    pattern: String.raw`${NAME}(?<=<[\w.:-]{1,100})(?:\s[^<>]{0,200})?>\s{0,40}(?:<Value>\s{0,40})?(?<secret>[^<>\s]{3,4096})(?=\s{0,40}<\\{0,4}/)`,
    example: '<dbPassword>opensesame</dbPassword>',
    counterExample: '<secretName>db-credentials-1</secretName>',
    isSecret: namedAs('quoted'),
  }),
  toRule({
    pattern: String.raw`${NAME}(?<=(?:name|key|id)=\\{0,15}["'][\w.-]{1,80})\\{0,15}["'][^<>]{0,80}>\s{0,20}(?:<value>\s{0,20})?(?<secret>[^<>\s]{3,400})(?=\s{0,20}</)`,
    example: '<property name="db.password">opensesame</property>',
    counterExample: '<label for="password">Password1</label>',
    isSecret: namedAs('quoted'),
  }),
  toRule({
    // In a sentence.
    pattern: String.raw`(?<![\w-])(?<name>passw(?:or)?ds?|passphrase|passcode|pwd|pw|secret|token|key)(?:\s(?:for|of|to|on|in)(?:\s[\w@.'/-]{1,40}){1,4}?)?(?:\s(?:is|was|will be|should be|to)(?:\s(?:now|still|just|currently|always))?:?|(?<=key):)\s{1,4}(?<mark>(?:\\{0,15}["'\x60*]){0,3})(?<secret>[^\s"'\x60*\\]{1,400})`,
    example: 'The password for the demo is correct-horse-battery.',
    counterExample: 'the password is required',
    isSecret: isSaid,
  }),
  toRule({
    pattern: String.raw`(?<![\w-])(?<name>password|passwd|passphrase|passcode|pwd|pw|token|secret|key)\s(?<mark>["'\x60]?)(?<secret>[^\s"'\x60]{6,200})`,
    example: 'log in with password Hunter2Hunter2',
    counterExample: 'password VARCHAR(255)',
    isSecret: isSaidDirectly,
  }),
  toRule({
    // `ENV DB_PASSWORD …`, `setx TOKEN …`, `npm config set //host/:_password …`.
    pattern: String.raw`${NAME}\\{0,15}["']?[ \t]{1,4}(?<=(?<![\w-])(?:ENV|ARG|setenv|setx|config(?:ure)?(?:[ \t]--?\w{1,30}){0,4}(?:[ \t]set)?|secrets?[ \t]set)[ \t]{1,4}\\{0,15}["']?[\w.:/-]{1,100}\\{0,15}["']?[ \t]{1,4})(?:-b|--body)?[ \t]{0,2}${WORD}`,
    example: 'ENV DB_PASSWORD opensesame',
    counterExample: 'ENV NODE_ENV production',
  }),
  toRule({
    // A secret key of AWS always has 40 characters, and some have no digit.
    pattern: String.raw`key(?<=secret_?access_?key)${CLOSE}\s{0,8}(?::|=>|=)\s{0,8}\\{0,15}["']?(?<secret>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])`,
    example: 'aws_secret_access_key = {letters:40}',
    counterExample: 'aws_secret_access_key = $KEY',
  }),
  toRule({
    // In .npmrc.
    pattern: String.raw`(?:Token|auth|password)(?<=(?:^|[\s:"'\x60])_(?:authToken|auth|password))\s{0,2}=\s{0,2}(?<secret>[^\s$"'\x60][^\s"'\x60]{0,4096})`,
    isExact: true,
    example: '//packages.example.com/:_authToken=opensesame',
    counterExample: '_authToken=${NPM_TOKEN}',
  }),
]
