import { ATTACHED } from '../../../mirror/index/index-file.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { pathWordOf } from '../../../text/terms/columns.ts'
import { UNSPACED_SCRIPTS } from '../../../text/terms/signs.ts'
import { CountedWords, WordGatherer } from './counted-words.ts'

/** All words would take ten times the memory. Rarer ones are found in the list of all terms. */
const WORDS_MAX = 50_000
const PATH_WORDS_MAX = 20_000

const COUNTS_AFTER = `select term, doc as count from temp.term_counts where term > ? order by term`

/** After a change of the mirror the words are gathered again, but not before this time, or 20 times as long as it took. */
const KEPT_MS = 60_000
const REST_FACTOR = 20

/** The most frequent words of a mirror, with the number of messages that contain each. */
export interface FrequentWords {
  readonly words: CountedWords
  /** Words of the paths that messages name. */
  readonly pathWords: CountedWords
  /** Whether they were gathered completely at least once. */
  readonly isComplete: boolean
}

interface Kept {
  words: CountedWords
  pathWords: CountedWords
  isComplete: boolean
  dataVersion: number
  gatheredAtMs: number
  tookMs: number
  gathering: Gathering | null
}

interface Gathering {
  readonly words: WordGatherer
  readonly pathWords: WordGatherer
  readonly dataVersion: number
  after: string
  tookMs: number
}

/** One list for each connection: a replaced mirror gets a new connection. */
const keptWords = new WeakMap<Mirror, Kept>()

export function frequentWords(db: Mirror): FrequentWords {
  return keptOf(db)
}

function keptOf(db: Mirror): Kept {
  const known = keptWords.get(db)
  if (known !== undefined) return known
  openCounts(db)
  const none = new CountedWords([], [])
  const kept: Kept = {
    words: none,
    pathWords: none,
    isComplete: false,
    dataVersion: -1,
    gatheredAtMs: -Infinity,
    tookMs: 0,
    gathering: null,
  }
  keptWords.set(db, kept)
  return kept
}

/** A temporary view of the full-text index. A connection with `query_only` refuses to create even that. */
function openCounts(db: Mirror): void {
  const mayOnlyAsk = Number(db.pragma('query_only', { simple: true }))
  db.pragma('query_only = off')
  try {
    db.exec(`create virtual table if not exists temp.term_counts using fts5vocab(${ATTACHED}, message_terms, row)`)
  } finally {
    db.pragma(`query_only = ${mayOnlyAsk}`)
  }
}

/**
 * Gathers words in steps, because reading the counts of a large index takes seconds.
 * @returns whether there is more to do
 */
export function gatherWords(db: Mirror, isOver: () => boolean, now: () => number = () => performance.now()): boolean {
  const kept = keptOf(db)
  const startedAtMs = now()
  kept.gathering ??= isDue(db, kept, startedAtMs) ? begin(db) : null
  const { gathering } = kept
  if (gathering === null) return false
  const isDone = advance(db, gathering, isOver)
  gathering.tookMs += now() - startedAtMs
  if (!isDone) return true
  const { words, pathWords, dataVersion, tookMs } = gathering
  Object.assign(kept, { words: words.finish(), pathWords: pathWords.finish(), isComplete: true, dataVersion, tookMs })
  kept.gatheredAtMs = now()
  kept.gathering = null
  return false
}

function isDue(db: Mirror, kept: Kept, nowMs: number): boolean {
  const restMs = kept.isComplete ? Math.max(KEPT_MS, REST_FACTOR * kept.tookMs) : 0
  return nowMs - kept.gatheredAtMs >= restMs && dataVersionOf(db) !== kept.dataVersion
}

const dataVersionOf = (db: Mirror): number => Number(db.pragma('data_version', { simple: true }))

const begin = (db: Mirror): Gathering => ({
  words: new WordGatherer(WORDS_MAX),
  pathWords: new WordGatherer(PATH_WORDS_MAX),
  dataVersion: dataVersionOf(db),
  after: '',
  tookMs: 0,
})

/** @returns whether all words were read */
function advance(db: Mirror, gathering: Gathering, isOver: () => boolean): boolean {
  const rows = db.prepare<[string], { term: string; count: number }>(COUNTS_AFTER).iterate(gathering.after)
  for (const { term, count } of rows) {
    gathering.after = term
    const pathWord = pathWordOf(term)
    if (pathWord === null && isTellingWord(term)) gathering.words.add(term, count)
    else if (pathWord !== null && isPathWord(pathWord)) gathering.pathWords.add(pathWord, count)
    if (isOver()) return false
  }
  return true
}

const unspaced = UNSPACED_SCRIPTS.map((script) => `\\p{Script=${script}}`).join('')
/** Only letters: no numbers, hashes, marks or pairs of unspaced characters. */
const tellingWord = new RegExp(`^(?:(?![${unspaced}])[\\p{L}\\p{M}]){3,40}$`, 'u')
const pathWordStart = /^[\p{L}\p{N}]/u
/** SQLite sorts these characters in another order than JavaScript. */
const beyondPlane = /[\ud800-\udfff]/

const isTellingWord = (term: string): boolean => tellingWord.test(term) && !beyondPlane.test(term)
const isPathWord = (word: string): boolean => pathWordStart.test(word) && !beyondPlane.test(word)
