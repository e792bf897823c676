/** Names under which the program chooses the model itself: which one it was is not told. */
const CHOSEN = new Set(['auto', 'default', 'cursor-auto'])
/**
 * How hard a model was told to think, and how fast to answer: it is the same model. Of these makers only: with others
 * such a word belongs to the name, as in `kimi-k2-thinking`, `mistral-medium` and `grok-4-fast`.
 */
const EFFORT = /^((?:claude|gpt|gemini|grok|o\d|\d|sonnet|opus|haiku)\b.*)-(?:minimal|none|low|medium|high|xhigh)$/
const THINKING = /^((?:claude|gpt|gemini|\d|sonnet|opus|haiku)\b.*)-thinking$/
const SPEED = /^((?:claude|gpt|\d|sonnet|opus|haiku)\b.*)-(?:fast|slow|priority)$/
const RELEASE = /^(.*)-(?:latest|preview|exp|20\d{6}|20\d\d-\d\d-\d\d)$/
const CLAUDE = /^(?:claude-)?(?:(\d)(?:[.-](\d))?-(sonnet|opus|haiku)|(sonnet|opus|haiku)-(\d)(?:[.-](\d))?)$/

/** Names that a list of prices knows by another one. */
const listedAs: ReadonlyMap<string, string> = new Map([
  ['gemini-3-pro', 'gemini-3-pro-preview'],
  ['gemini-3-flash', 'gemini-3-flash-preview'],
  ['gemini-3.1-pro', 'gemini-3.1-pro-preview'],
])

/** Whether a name says only that the model was chosen for the user. */
export const isChosenModel = (name: string): boolean => CHOSEN.has(name.trim().toLowerCase())

/** A name as a person reads it. */
export function modelLabel(name: string | null): string {
  if (name === null) return 'model not told'
  return isChosenModel(name) ? `${name} (chosen by Cursor)` : name
}

/** The model behind a name, by which two spellings are known as one: `claude-4.5-sonnet-thinking`, `claude-sonnet-4-5`. */
export function modelFamily(name: string): string {
  return isChosenModel(name) ? 'auto' : claudeName(withoutSuffixes(bare(name), [EFFORT, THINKING, SPEED, RELEASE]))
}

/**
 * The name to look a price up by; null for a name that stands for no model, and for an answer of another speed: that has
 * a price of its own, which no list tells.
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

/** Two orders of one name, and a version with a point or without: as the maker writes it. */
function claudeName(name: string): string {
  const match = CLAUDE.exec(name)
  if (match === null) return name
  const major = match[1] ?? match[5] ?? ''
  const minor = match[2] ?? match[6]
  const kind = match[3] ?? match[4] ?? ''
  if (Number(major) < 4) return `claude-${major}${minor === undefined ? '' : `-${minor}`}-${kind}`
  return `claude-${kind}-${major}${minor === undefined ? (major === '4' ? '-0' : '') : `-${minor}`}`
}
