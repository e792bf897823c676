import { hash as digest } from 'node:crypto'
import { join } from 'node:path'
import { closedBy, type ClosedFile } from '../../open-safely/cursor-file.ts'
import { mayBeFolder } from '../../open-safely/file-identity.ts'
import type { PassEnd, Source } from '../../source.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { asSourceId } from '../../../model/ids.ts'
import { syncStores } from './sync-stores.ts'
import { listFolder, type Listing, type Place } from './list-stores.ts'

const KIND = 'cli-store'
const DECODER = 2
/**
 * The messages as the model saw them: with the results of calls, unlike a transcript; without times, unlike the
 * editor's store.
 */
const RANK = 1

/**
 * The chats of the command line in one of Cursor's home folders.
 * @param home such as `~/.cursor`
 */
export const cliStoreSources = (home: string): Source[] =>
  placesIn(home)
    .filter(({ folder }) => mayBeFolder(folder))
    .map(cliStoreSource)

const placesIn = (home: string): readonly Place[] => [
  { folder: join(home, 'chats'), layout: 'by-folder' },
  { folder: join(home, 'acp-sessions'), layout: 'flat' },
]

function cliStoreSource(place: Place): Source {
  const { folder } = place
  const source: Source = {
    id: asSourceId(digest('sha256', `${KIND} ${folder}`).slice(0, 16)),
    kind: KIND,
    decoder: DECODER,
    path: folder,
    rank: RANK,
    folder,
    // Each chat has its own folder, up to two levels deep: `signature` shows what is new inside.
    files: [],
    isAlwaysWarm: false,
    signature: () => listFolder(place)?.signature ?? null,
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const end = (state: PassEnd['state'], detail: string | null, syncedAtMs: number | null): PassEnd => {
        held.saveSourceState(mirror, num, state, detail, syncedAtMs)
        return { state, detail, again: [] }
      }
      const found = lookInto(place)
      if (found.kind === 'closed') return end(found.state, found.detail, null)
      const known = held.readPosition(mirror, num).signature
      if (request.depth === 'nudge' && found.listing.signature === known) return end('ok', null, null)
      const busy = yield* syncStores({ mirror, source, request, listing: found.listing })
      if (busy > 0) return end('busy', `Cursor is writing to the stores of ${busy} of its chats.`, null)
      return end('ok', null, request.now())
    },
  }
  return source
}

type Found = { readonly kind: 'found'; readonly listing: Listing } | ClosedFile

function lookInto(place: Place): Found {
  try {
    const listing = listFolder(place)
    return listing === null ? { kind: 'closed', state: 'missing', detail: null } : { kind: 'found', listing }
  } catch (error) {
    return closedBy(error)
  }
}
