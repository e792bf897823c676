import type { AnswerWrite, BlobCall } from '../../../mirror/write/batch.ts'
import { findHeldRow } from '../../../mirror/sources/source-state.ts'
import { type OpenReference, listBlobsOfCall } from '../../../mirror/write/pending-references.ts'
import type { PassStep } from '../../source.ts'
import { decodeArchive, decodeTurn, type ConversationState } from '../records/state/conversation-state.ts'
import { listToolResults, parseModelMessages, type ToolResult } from '../records/state/model-messages.ts'
import { blobKey, BLOB_PREFIX, decodeBlob, readWhole, VALUE_OCTETS_MAX } from './read-state.ts'
import { foundStep, READ, rowOf, type BlobPass } from './blob-pass.ts'
import { readNamed, type NamedValue } from './read.ts'

/**
 * Finds the outputs that messages of a chat leave out, in the blobs named by the chat's state. Each blob is read once
 * to learn which outputs it contains, and again only if one of those is requested later. What the state's own list does
 * not have is looked for in what its summaries replaced, and in its turns.
 */
export function* joinOutputs(
  pass: BlobPass,
  state: ConversationState,
  asks: readonly OpenReference[],
): Generator<PassStep, void> {
  const open = new Map<string, number[]>()
  for (const { name, num } of asks) open.set(name, [...(open.get(name) ?? []), num])
  yield* joinFrom(pass, new Set(state.entries.flatMap((entry) => (entry.kind === 'blob' ? [entry.id] : []))), open)
  if (open.size > 0) yield* joinFrom(pass, yield* namedBelow(pass, state.archives, decodeArchive), open)
  if (open.size > 0) yield* joinFrom(pass, yield* namedBelow(pass, state.turns, decodeTurnSteps), open)
}

const decodeTurnSteps = (bytes: Buffer): Named => ({ messages: decodeTurn(bytes)?.steps ?? [] })

interface Named {
  readonly messages: readonly string[]
}

/** The ids that these blobs name. */
function* namedBelow(
  pass: BlobPass,
  ids: readonly string[],
  decode: (bytes: Buffer) => Named | null,
): Generator<PassStep, ReadonlySet<string>> {
  const found = yield* readWhole(pass, ids.map(blobKey))
  return new Set([...found.values()].flatMap((bytes) => decode(decodeBlob(bytes))?.messages ?? []))
}

/** @param open numbers of requests by the call's id; answered ones are removed */
function* joinFrom(
  pass: BlobPass,
  named: ReadonlySet<string>,
  open: Map<string, readonly number[]>,
): Generator<PassStep, void> {
  for (const page of readNamed(pass.file, blobsToRead(pass, named, [...open.keys()]).map(blobKey), VALUE_OCTETS_MAX)) {
    const answers: AnswerWrite[] = []
    const blobCalls: BlobCall[] = []
    for (const row of page.values) {
      for (const { callId, output } of resultsIn(row)) {
        blobCalls.push({ blob: row.key.slice(BLOB_PREFIX.length), callId })
        for (const ask of open.get(callId) ?? []) answers.push({ ask, value: output, cappedFrom: null })
        open.delete(callId)
      }
    }
    yield foundStep(pass, page, { answers, blobCalls, rows: page.values.map(rowOf) })
  }
}

/** Blobs that this decoder never read, and those known to contain a requested output. */
function blobsToRead({ mirror, num }: BlobPass, named: ReadonlySet<string>, callIds: readonly string[]): string[] {
  const fresh = [...named].filter((blob) => findHeldRow(mirror, num, blobKey(blob))?.rowid !== READ)
  const known = callIds.flatMap((callId) => listBlobsOfCall(mirror, num, callId)).filter((blob) => named.has(blob))
  return [...new Set([...fresh, ...known])]
}

function resultsIn({ value, octets }: NamedValue): readonly ToolResult[] {
  if (value === null || value.length < octets) return []
  const parsed = parseModelMessages(decodeBlob(value))
  // A node of the tree, or a newer format; `doctor` reports which.
  return parsed.kind === 'issue' ? [] : parsed.messages.flatMap((message) => listToolResults(message))
}
