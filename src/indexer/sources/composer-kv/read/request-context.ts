import type { EvidenceWrite } from '../../../../mirror/write/batch.ts'
import type { Mirror } from '../../../../mirror/open.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import { weighEvidence } from '../../../projects/projects.ts'
import { decodeContextEvidence } from '../../records/chat/decode-evidence.ts'
import { parseRow } from '../../records/json/parse-row.ts'
import { splitContextKey } from '../keys.ts'
import { listContexts, listHomeless } from './read-context.ts'
import { readPage, type RawRow, type RowRef } from './read.ts'

/** How many contexts are read in one pass, and of how many chats they are looked for while the store is open once. */
const CONTEXTS_MAX = 500
const CHATS_A_LOOK = 1000

export interface ContextPage {
  readonly evidence: readonly EvidenceWrite[]
  readonly bytesRead: number
  readonly elapsedMs: number
}

/**
 * Where the chats belong that have no project yet, by what was sent along with their requests. Only the folder's path
 * is taken from there: the rest is rules, layouts and contents of files.
 */
export function* readContexts(file: OpenFile, mirror: Mirror, source: number): Generator<ContextPage, void> {
  for (let rest = findContexts(file, mirror, source); rest.length > 0;) {
    const from = rest
    const page = file.read((db) => readPage(db, from, file.readMsMax))
    noteTried(mirror, from.slice(0, page.taken))
    rest = rest.slice(page.taken)
    yield { evidence: page.rows.flatMap(decodeContext), bytesRead: page.bytesRead, elapsedMs: page.elapsedMs }
  }
}

/** Most homeless chats are of builds that wrote no context; looking for one is a step in the index. */
function findContexts(file: OpenFile, mirror: Mirror, source: number): RowRef[] {
  const chats = listHomeless(mirror, source)
  const found: RowRef[] = []
  for (let at = 0; at < chats.length && found.length < CONTEXTS_MAX; at += CHATS_A_LOOK) {
    const some = chats.slice(at, at + CHATS_A_LOOK)
    found.push(
      ...file.read((db) => some.flatMap((chatId) => listContexts(db, chatId))).filter((row) => !isTried(mirror, row)),
    )
  }
  return found.slice(0, CONTEXTS_MAX)
}

/** Rows that were read, by mirror: what told of no folder does not keep others waiting. A new process reads them again. */
const tried = new WeakMap<Mirror, Set<string>>()

/** A row that is written anew has another rowid, or says what it said. */
const nameOf = ({ key, rowid }: RowRef): string => `${rowid} ${key}`

const isTried = (mirror: Mirror, row: RowRef): boolean => tried.get(mirror)?.has(nameOf(row)) === true

function noteTried(mirror: Mirror, rows: readonly RowRef[]): void {
  const ofMirror = tried.get(mirror) ?? new Set<string>()
  tried.set(mirror, ofMirror)
  for (const row of rows) ofMirror.add(nameOf(row))
}

function decodeContext({ key, value }: RawRow): EvidenceWrite[] {
  const chatId = splitContextKey(key)
  const row = value === null ? null : parseRow(value)
  if (chatId === null || row?.kind !== 'record') return []
  return weighEvidence(chatId, decodeContextEvidence(row.record), { isOnly: false })
}
