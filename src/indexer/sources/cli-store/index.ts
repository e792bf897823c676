import { listLiveMessages } from '../../../mirror/write/messages.ts'
import { writeFolder } from '../../open-safely/whole-store.ts'
import { ofFolder, read, skipped, type Source } from '../../source.ts'
import { listFolder, type Place } from './list-stores.ts'
import { pieceOf } from './pieces.ts'
import { readStore } from './read-store.ts'

/**
 * The messages as the model saw them: with the results of calls, unlike a transcript; without times, unlike the
 * editor's store.
 */
const RANK = 1

/** The chats of the command line in a folder of one of Cursor's home folders. */
export function cliStoreSource(place: Place): Source {
  return {
    ...ofFolder({ kind: 'cli-store', decoder: 2, folder: place.folder, rank: RANK }),
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
