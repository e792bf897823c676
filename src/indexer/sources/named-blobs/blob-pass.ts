import { hash as digest } from 'node:crypto'
import { join } from 'node:path'
import { endedBy, filesOf, fileSignature, openCursorFile, type OpenFile } from '../../open-safely/cursor-file.ts'
import { countLater, readingStep, type PassEnd, type PassRequest, type PassStep, type Source } from '../../source.ts'
import { newestReference } from '../../../mirror/write/pending-references.ts'
import { emptyBatch, type Batch, type RowState } from '../../../mirror/write/batch.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import { asSourceId } from '../../../model/ids.ts'
import { hasTable, type NamedPage, type NamedValue } from './read.ts'

/** The source whose messages ask; its values lie in the same file. */
const ASKER = 'composer-kv'

/** A look at what was asked for, with the store open. */
export interface BlobPass {
  readonly file: OpenFile
  readonly mirror: Mirror
  /** The number of this source. */
  readonly num: number
  /** The number of the source whose messages ask. */
  readonly asker: number
  readonly request: PassRequest
  /** Asks up to this number were looked at before. */
  readonly after: number
  /** True where no pass has ended since another version of the decoder read the source, or since the mirror was salvaged. */
  readonly isOutdated: boolean
  /** Keys of the rows of which an issue was told. */
  readonly issueKeys: Set<string>
}

interface BlobSource {
  readonly kind: string
  readonly decoder: number
  readonly rank: number
  readonly look: (pass: BlobPass) => Generator<PassStep, void>
}

/**
 * A source that looks only for what messages ask for. Where nothing was asked since its last pass it opens no file; on
 * a pass over every value it looks for all that is still open.
 */
export function blobSource(userDir: string, { kind, decoder, rank, look }: BlobSource): Source {
  const folder = join(userDir, 'globalStorage')
  const path = join(folder, 'state.vscdb')
  const source: Source = {
    id: asSourceId(digest('sha256', `${kind} ${path}`).slice(0, 16)),
    kind,
    decoder,
    path,
    rank,
    folder,
    files: filesOf(path),
    isAlwaysWarm: true,
    signature: () => fileSignature(path),
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const end = yield* openAndLook(mirror, { num, path, request, look })
      held.saveSourceState(mirror, num, end.state, end.detail, end.state === 'ok' ? request.now() : null)
      return end
    },
  }
  return source
}

interface Setting {
  readonly num: number
  readonly path: string
  readonly request: PassRequest
  readonly look: BlobSource['look']
}

/** What is asked for in a run that this one did not wait for is looked for with the next count. */
const settledFor = ({ depth }: PassRequest): PassEnd => ({
  state: 'ok',
  detail: null,
  again: depth === 'nudge' ? [countLater] : [],
})

function* openAndLook(mirror: Mirror, { num, path, request, look }: Setting): Generator<PassStep, PassEnd> {
  if (fileSignature(path) === null) return { state: 'missing', detail: null, again: [] }
  const asker = held.findSource(mirror, ASKER, path)
  const position = held.readPosition(mirror, num)
  const newest = newestReference(mirror)
  const after = request.depth === 'full' ? 0 : (position.watermark ?? 0)
  if (asker === null || newest <= after) return settledFor(request)
  const file = openCursorFile(path)
  if (file.kind === 'closed') return { state: file.state, detail: file.detail, again: [] }
  try {
    if (file.bytesRead > 0) yield { ...readingStep, bytesRead: file.bytesRead }
    const isOutdated = position.watermark === null
    const issueKeys = new Set<string>()
    if (file.read(hasTable)) yield* look({ file, mirror, num, asker, request, after, isOutdated, issueKeys })
    const { identity, signature } = file
    // A look at all that is asked for told every issue that there still is.
    const droppedKeys = after > 0 ? [] : held.listIssueKeys(mirror, num).filter((key) => !issueKeys.has(key))
    const end = { identity, signature, watermark: newest, watermarkKey: null }
    writeFound({ mirror, num, request }, { droppedKeys, position: end })
    // What is not read of the store is the business of others.
    held.saveCounts(mirror, num, { totalRows: held.countHeldRows(mirror, num), nullKeys: 0 }, request.now())
    return settledFor(request)
  } catch (error) {
    const { state, detail } = endedBy(error)
    return { state, detail, again: [] }
  } finally {
    file.close()
  }
}

type Writer = Pick<BlobPass, 'mirror' | 'num' | 'request'>

/** Writes what was found in one transaction. */
function writeFound({ mirror, num, request }: Writer, found: Partial<Batch>): PassStep['outcome'] {
  return writeBatch(mirror, { ...emptyBatch, ...found, source: num, nowMs: request.now() })
}

/** In place of a rowid: this decoder read the value. */
export const READ = 0

/** What a value that is named by its hash holds never changes: that it was read is all there is to know. */
export const rowOf = ({ key, octets }: Omit<NamedValue, 'value'>): RowState => ({
  key,
  rowid: READ,
  octets,
  checksum: null,
})

/** A step that read a page, and wrote what it found there. */
export function foundStep(pass: BlobPass, page: Omit<NamedPage, 'values'>, found: Partial<Batch>): PassStep {
  const outcome = writeFound(pass, found)
  for (const { key } of found.issues ?? []) pass.issueKeys.add(key)
  return { ...readingStep, bytesRead: page.bytesRead, longestReadMs: page.elapsedMs, outcome }
}
