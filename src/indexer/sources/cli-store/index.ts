import { join } from 'node:path'
import { listLiveMessages } from '../../../mirror/write/messages.ts'
import { mayBeFolder } from '../../open-safely/cursor-file.ts'
import { writeFolder } from '../../open-safely/whole-store.ts'
import { read, skipped, sourceId, type Source } from '../../source.ts'
import { listFolder, type Place } from './list-stores.ts'
import { pieceOf } from './pieces.ts'
import { readStore } from './read-store.ts'

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
  return {
    id: sourceId(KIND, folder),
    kind: KIND,
    decoder: DECODER,
    path: folder,
    rank: RANK,
    folder,
    // Each chat has its own folder, up to two levels deep: `signature` shows what is new inside.
    files: [],
    isAlwaysWarm: false,
    signature: () => listFolder(place)?.signature ?? null,
    async pass(mirror, num, request) {
      const listing = listFolder(place)
      if (listing === null) return { kind: 'closed', state: 'missing', detail: null }
      const skip = skipped(mirror, num, request, listing.signature)
      if (skip !== null) return skip
      const busy = await writeFolder(mirror, num, listing, request, (store) => {
        const found = readStore(store)
        const listLive = () => listLiveMessages(mirror, store.chatId, num)
        return found === null ? null : { ...found, pieces: [pieceOf(store, found, listLive)] }
      })
      if (busy === 0) return read
      return { kind: 'closed', state: 'busy', detail: `Cursor is writing to the stores of ${busy} of its chats.` }
    },
  }
}
