import { chatsIn } from './chats-in.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as held from '../../../mirror/sources/source-state.ts'
import { readSweep } from '../../../mirror/sources/sweeps.ts'
import { filesOf, fileSignature, openCursorFile, UnknownLayout } from '../../open-safely/cursor-file.ts'
import { skipped, sourceId, type Source } from '../../source.ts'
import { compareAgain } from './find-changes.ts'
import { lookAtStore } from './read-unknown.ts'
import { emptyStore, findTable } from './read.ts'
import { StorePass } from './store-pass.ts'

const KIND = 'composer-kv'
const DECODER = 3

/**
 * The global key-value store of one Cursor user folder.
 * @param userDir Cursor's `User` folder
 */
export function composerKvSource(userDir: string): Source {
  const folder = join(userDir, 'globalStorage')
  const path = join(folder, 'state.vscdb')
  return {
    id: sourceId(KIND, path),
    kind: KIND,
    decoder: DECODER,
    path,
    rank: 0,
    folder,
    files: filesOf(path),
    isAlwaysWarm: true,
    signature: () => fileSignature(path),
    async pass(mirror, num, request) {
      const signature = fileSignature(path)
      const octets = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (skipped(mirror, num, request, signature) !== null) {
        return { isRead: false, again: compareAgain(readSweep(mirror, num), signature, octets, request.now()) }
      }
      const file = openCursorFile(path)
      if (file.kind === 'closed') return file
      try {
        const table = file.read(findTable)
        if (table.kind === 'unknown') throw new UnknownLayout(table.why)
        // A first pass takes a while. The store must not be reported as missing in the meantime.
        if (held.readPosition(mirror, num).watermark === null) held.saveSourceState(mirror, num, 'ok', null, null)
        const store = table.kind === 'none' ? emptyStore(file) : file
        const again = await new StorePass({ file: store, mirror, num }, octets, request).run()
        await request.turn({ longestReadMs: file.longestReadMs() })
        return { isRead: true, again }
      } finally {
        file.close()
      }
    },
    look: () => lookAtStore(path),
    chatsIn,
  }
}
