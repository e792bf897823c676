import type { MessageEstimate, Role } from '../../model/message.ts'
import type { Part } from '../../model/part.ts'
import { spokenTexts } from '../passages/spoken-texts.ts'

/**
 * What a sign of each kind costs, in tokens of the encoding o200k_base. Fitted by least squares of the relative error to
 * 861 texts: prose in English, Chinese, Japanese, Korean, Russian and other languages, code, diffs, JSON and logs. Of 409
 * other texts, 95% differ from the encoder by less than 15%. A test holds these numbers against the encoder.
 */
const COSTS = {
  /** A run of ASCII letters. A capital letter after a small one begins another. */
  word: 1.009,
  /** A letter of a word after the eighth. */
  longLetter: 0.383,
  /** Up to three digits. */
  digits: 2.051,
  /** A run of ASCII punctuation, for its first sign. */
  punctuation: 0.422,
  morePunctuation: 0.177,
  /** A backslash. It begins an escape, which is seldom one token with what follows. */
  backslash: 1.84,
  /** A run of line breaks, or of two and more blanks. A single blank belongs to the next word. */
  space: 1.222,
  han: 0.726,
  kana: 0.684,
  hangul: 0.696,
  cyrillicWord: 1.4,
  cyrillicLetter: 0.05,
  /** A Latin letter beyond ASCII. */
  accented: 0.522,
  /** Any other UTF-16 unit. */
  other: 0.574,
} as const

const WORD_LETTERS = 8
const DIGITS_TOGETHER = 3

const kinds = [
  'small',
  'capital',
  'digit',
  'punctuation',
  'backslash',
  'blank',
  'line',
  'han',
  'kana',
  'hangul',
  'cyrillic',
  'accented',
  'other',
] as const
type Kind = (typeof kinds)[number]

/** @param code a UTF-16 unit */
function kindOf(code: number): Kind {
  if (code < 0x80) return ASCII[code] ?? 'other'
  if (code < 0x250) return code >= 0xc0 ? 'accented' : 'other'
  if (code < 0x530) return code >= 0x400 ? 'cyrillic' : 'other'
  if (code >= 0x3040 && code < 0x3100) return 'kana'
  if ((code >= 0x3400 && code < 0xa000) || (code >= 0xf900 && code < 0xfb00)) return 'han'
  return code >= 0xac00 && code < 0xd7b0 ? 'hangul' : 'other'
}

const ASCII: readonly Kind[] = Array.from({ length: 0x80 }, (_, code) => {
  const sign = String.fromCharCode(code)
  if (/[a-z]/.test(sign)) return 'small'
  if (/[A-Z]/.test(sign)) return 'capital'
  if (/[0-9]/.test(sign)) return 'digit'
  if (/[\n\r]/.test(sign)) return 'line'
  if (sign === '\\') return 'backslash'
  return /[ \t]/.test(sign) ? 'blank' : 'punctuation'
})

/** @param run which sign of its run it is, from 1 */
function costOf(kind: Kind, run: number): number {
  switch (kind) {
    case 'small':
    case 'capital':
      return run === 1 ? COSTS.word : run > WORD_LETTERS ? COSTS.longLetter : 0
    case 'digit':
      return run % DIGITS_TOGETHER === 1 ? COSTS.digits : 0
    case 'punctuation':
      return run === 1 ? COSTS.punctuation : COSTS.morePunctuation
    case 'line':
      return run === 1 ? COSTS.space : 0
    case 'blank':
      return run === 2 ? COSTS.space : 0
    case 'cyrillic':
      return COSTS.cyrillicLetter + (run === 1 ? COSTS.cyrillicWord : 0)
    default:
      return COSTS[kind]
  }
}

// A text is walked with numbers and tables: by names it takes five times as long, and a first run walks all texts.
const [SMALL, CAPITAL] = [kinds.indexOf('small'), kinds.indexOf('capital')]
/** Beyond this sign of a run, the last three costs repeat. */
const RUN_MAX = 12
const COST_OF = Float64Array.from({ length: kinds.length * RUN_MAX }, (_, at) =>
  costOf(kinds[Math.floor(at / RUN_MAX)] ?? 'other', (at % RUN_MAX) + 1),
)
/** By UTF-16 unit. Made at first use: a command that only reads needs none. */
let kindOfUnit: Uint8Array | null = null
const tableOfKinds = (): Uint8Array => Uint8Array.from({ length: 0x10000 }, (_, code) => kinds.indexOf(kindOf(code)))

/** Tokens of a text, estimated in one walk over its signs: 240 million a second. */
export function estimateTokens(text: string): number {
  const kindOfEach = (kindOfUnit ??= tableOfKinds())
  let tokens = 0
  let last = -1
  let run = 0
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOfEach[text.charCodeAt(at)] as number
    if (kind === last || (kind === SMALL && last === CAPITAL)) run = run === RUN_MAX ? RUN_MAX - 2 : run + 1
    else run = 1
    tokens += COST_OF[kind * RUN_MAX + run - 1] as number
    last = kind
  }
  return Math.round(tokens)
}

/** Tables, rare words and base64 are up to a quarter off. */
const SURE_FACTOR = 1.4

/** The tokens of a text, from above: for a limit that must hold, while `estimateTokens` is right on average. */
export const tokensAtMost = (text: string): number => Math.ceil(SURE_FACTOR * estimateTokens(text))

/** Tokens of a message's own text. What else was sent with it, such as the chat so far, is not known. */
export function estimateMessage(role: Role, parts: readonly Part[]): MessageEstimate {
  const { input, output } = spokenTexts(role, parts)
  return { input: sum(input), output: sum(output) }
}

const sum = (texts: readonly string[]): number => texts.reduce((tokens, text) => tokens + estimateTokens(text), 0)
