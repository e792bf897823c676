export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

export interface TypedWords {
  /** The words before the one at the cursor, without the program's name and without quotes. */
  readonly before: readonly string[]
  /** The beginning of the word at the cursor, without quotes. */
  readonly current: string
  /** The text that completes the word to `value`, which begins with `current`, as the shell inserts it. */
  readonly insertable: (value: string) => string
}

/** bash breaks words at these too, and replaces only the text after the last one. */
const BREAKS = /^[@:=]+$/

/** @param raw the words as they were typed, with quotes; the last one is at the cursor and may be empty */
export function readTypedWords(shell: Shell, raw: readonly string[]): TypedWords {
  const words: string[] = []
  let isGlued = false
  for (const word of raw) {
    const isBreak = shell === 'bash' && BREAKS.test(word)
    if ((isBreak || isGlued) && words.length > 0) words.push(`${words.pop() ?? ''}${unquoted(word, shell)}`)
    else words.push(unquoted(word, shell))
    isGlued = isBreak
  }
  const current = words.pop() ?? ''
  const last = raw.at(-1) ?? ''
  if (shell !== 'bash') return { before: words, current, insertable: shell === 'powershell' ? inPowerShell : same }
  const own = BREAKS.test(last) ? '' : unquoted(last, shell)
  const headLength = current.length - own.length
  return { before: words, current, insertable: (value) => inBash(value.slice(headLength), last.charAt(0)) }
}

/** zsh and fish quote what they insert. */
const same = (value: string): string => value

/** The text of a word. The word may end within quotes. */
function unquoted(word: string, shell: Shell): string {
  const escape = shell === 'powershell' ? '`' : '\\'
  let text = ''
  let quote = ''
  for (let at = 0; at < word.length; at += 1) {
    const sign = word.charAt(at)
    const next = word.charAt(at + 1)
    if (quote === '' && (sign === '"' || sign === "'")) quote = sign
    else if (sign === quote) quote = ''
    else if (sign === escape && quote !== "'" && (quote === '' || shell === 'powershell' || /["\\$`]/.test(next))) {
      text += next
      at += 1
    } else text += sign
  }
  return text
}

/** @param quote the first character of the typed word. bash adds the closing quote itself */
function inBash(text: string, quote: string): string {
  if (quote === '"') return text.replaceAll(/["\\$`]/g, String.raw`\$&`)
  if (quote === "'") return text.replaceAll("'", String.raw`'\''`)
  return text.replaceAll(/[^\p{L}\p{M}\p{N}_%+,./@:=-]/gu, String.raw`\$&`)
}

const inPowerShell = (text: string): string =>
  /^[\p{L}\p{N}_./:=-][\p{L}\p{N}_./:=@-]*$/u.test(text) ? text : `'${text.replaceAll("'", "''")}'`
