import { hash as digest } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { closedBy, type ClosedFile } from '../../open-safely/cursor-file.ts'
import { closedFolder } from '../../open-safely/closed-folder.ts'
import { isAbsence, mayBeFolder } from '../../open-safely/file-identity.ts'
import type { PassDepth, PassEnd, Source } from '../../source.ts'
import type { WholeContent } from '../../open-safely/whole-store.ts'
import { writeWhole } from '../../open-safely/write-whole.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { asSourceId } from '../../../model/ids.ts'
import { folderSignature } from './read.ts'
import { readFolder, type Memory, type Place } from './read-folder.ts'

const KIND = 'transcripts'
const DECODER = 3
/** A transcript has no ids, no times and no results of calls: every other source of a chat is more complete. */
const RANK = 3

/**
 * The transcripts of every project in one of Cursor's home folders.
 * @param home such as `~/.cursor`
 */
export function transcriptSources(home: string): Source[] {
  const root = nursery(home)
  return (
    listProjects(root)?.map((slug) => {
      const project = join(root, slug)
      return transcriptSource({ slug, project, folder: join(project, 'agent-transcripts') })
    }) ?? [closedFolder(KIND, root, RANK)]
  )
}

/** The folder in which Cursor creates a folder for each project. */
export const nursery = (home: string): string => join(home, 'projects')

/** Null if the folder may not be listed. */
function listProjects(root: string): string[] | null {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && mayBeFolder(join(root, entry.name, 'agent-transcripts')))
      .map((entry) => entry.name)
      .sort()
  } catch (error) {
    // No agent has run yet.
    if (isAbsence(error)) return []
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

function transcriptSource(place: Place): Source {
  const { project, folder } = place
  const source: Source = {
    id: asSourceId(digest('sha256', `${KIND} ${folder}`).slice(0, 16)),
    kind: KIND,
    decoder: DECODER,
    path: folder,
    rank: RANK,
    folder,
    // Each chat has its own folder. Watching the parent shows new ones; `signature` shows changes inside.
    files: [],
    isAlwaysWarm: false,
    signature: () => folderSignature(project, folder),
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const known = held.readPosition(mirror, num).signature
      const found = lookInto(source, place, memoryOf(mirror, folder), { depth: request.depth, known })
      if (found === null) {
        held.saveSourceState(mirror, num, 'ok', null, null)
        return untouched
      }
      if (found.kind === 'closed') {
        held.saveSourceState(mirror, num, found.state, found.detail, null)
        return { state: found.state, detail: found.detail, again: [] }
      }
      yield* writeWhole(mirror, source, found.content, request)
      held.saveSourceState(mirror, num, 'ok', null, request.now())
      return untouched
    },
  }
  return source
}

const untouched: PassEnd = { state: 'ok', detail: null, again: [] }

type FolderContent = { readonly kind: 'whole'; readonly content: WholeContent } | ClosedFile

/** Null if nothing has changed since the last pass, whose signature is `known`. */
function lookInto(
  source: Source,
  place: Place,
  memory: Memory,
  { depth, known }: { readonly depth: PassDepth; readonly known: string | null },
): FolderContent | null {
  try {
    const signature = source.signature()
    if (depth === 'nudge' && signature !== null && signature === known) return null
    return { kind: 'whole', content: readFolder(place, memory, depth, signature) }
  } catch (error) {
    return closedBy(error)
  }
}

/**
 * Source objects are rebuilt for each run. What was read is remembered as long as the mirror it was written to is open.
 */
const memories = new WeakMap<Mirror, Map<string, Memory>>()

function memoryOf(mirror: Mirror, folder: string): Memory {
  const byFolder = memories.get(mirror) ?? new Map<string, Memory>()
  memories.set(mirror, byFolder)
  const memory: Memory = byFolder.get(folder) ?? new Map()
  byFolder.set(folder, memory)
  return memory
}
