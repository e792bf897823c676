/** Names that mean that Cursor chose the model itself. The chosen model is not recorded. */
const CHOSEN = new Set(['auto', 'default', 'cursor-auto'])
/**
 * Suffixes for the reasoning effort and the speed; they do not change the model. They apply only to these vendors: for others
 * such a word is part of the name, as in `kimi-k2-thinking`, `mistral-medium` and `grok-4-fast`.
 */
const EFFORT = /^((?:claude|gpt|gemini|grok|o\d|\d|sonnet|opus|haiku)\b.*)-(?:minimal|none|low|medium|high|xhigh)$/
const THINKING = /^((?:claude|gpt|gemini|\d|sonnet|opus|haiku)\b.*)-thinking$/
const SPEED = /^((?:claude|gpt|\d|sonnet|opus|haiku)\b.*)-(?:fast|slow|priority)$/
const RELEASE = /^(.*)-(?:latest|preview|exp|20\d{6}|20\d\d-\d\d-\d\d)$/
const CLAUDE = /^(?:claude-)?(?:(\d)(?:[.-](\d))?-(sonnet|opus|haiku)|(sonnet|opus|haiku)-(\d)(?:[.-](\d))?)$/

/** Names that have another spelling in the price list. */
const listedAs: ReadonlyMap<string, string> = new Map([
  ['gemini-3-pro', 'gemini-3-pro-preview'],
  ['gemini-3-flash', 'gemini-3-flash-preview'],
  ['gemini-3.1-pro', 'gemini-3.1-pro-preview'],
])

/** Whether a name only says that Cursor chose the model. */
export const isChosenModel = (name: string): boolean => CHOSEN.has(name.trim().toLowerCase())

/** A model name for display. */
export function modelLabel(name: string | null): string {
  if (name === null) return 'unknown model'
  return isChosenModel(name) ? `${name} (chosen by Cursor)` : name
}

/** The model of a name, equal for all its spellings: `claude-4.5-sonnet-thinking` and `claude-sonnet-4-5`. */
export function modelFamily(name: string): string {
  return isChosenModel(name) ? 'auto' : claudeName(withoutSuffixes(bare(name), [EFFORT, THINKING, SPEED, RELEASE]))
}

/**
 * The name for the price list; null if the name is no specific model, or has a speed suffix: other speeds have other prices,
 * which no list contains.
 */
export function listedModel(name: string): string | null {
  if (isChosenModel(name)) return null
  const plain = claudeName(withoutSuffixes(bare(name), [EFFORT, THINKING]))
  return SPEED.test(plain) ? null : (listedAs.get(plain) ?? plain)
}

const bare = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/^[\w.-]+\//, '')

function withoutSuffixes(name: string, suffixes: readonly RegExp[]): string {
  const shorter = suffixes.reduce((left, suffix) => left.replace(suffix, '$1'), name)
  return shorter === name ? name : withoutSuffixes(shorter, suffixes)
}

/** Normalises the word order and the version separator of Claude names to the vendor's spelling. */
function claudeName(name: string): string {
  const match = CLAUDE.exec(name)
  if (match === null) return name
  const major = match[1] ?? match[5] ?? ''
  const minor = match[2] ?? match[6]
  const kind = match[3] ?? match[4] ?? ''
  if (Number(major) < 4) return `claude-${major}${minor === undefined ? '' : `-${minor}`}-${kind}`
  return `claude-${kind}-${major}${minor === undefined ? (major === '4' ? '-0' : '') : `-${minor}`}`
}
