import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHandles } from '../harm/handle-watch.ts'
import { FaultyBuild } from '../../helpers/faulty-build.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, untilReady, untilState, Workplace } from '../../helpers/spawn-cursordex.ts'
import { pause, waitUntil } from '../../helpers/wait-until.ts'

test.runIf(process.platform === 'linux')(
  'a daemon that treats this disk as a network mount reads a copy, removes it, and waits before the next one',
  async () => {
    const build = new FaultyBuild({
      file: 'indexer/open-safely/checked-copy.ts',
      replace: "[0x01021997, '9p']",
      by: `[${statfsSync(tmpdir()).type}, '9p']`,
    })
    const place = new Workplace()
    try {
      const store = place.cursor.global()
      fillStore(store, { chats: 5, messagesPerChat: 20 })
      const { daemon, url } = await place.serve([], { bin: build.bin })
      expect(await untilReady(url)).toMatchObject({ counts: { chats: 5, messages: 100 } })
      const copies = join(place.dataDir, 'copies')
      await waitUntil('the copy to go', () => !existsSync(copies))
      expect(openHandles(daemon.pid, place.cursor.root)).toEqual([])
      const { bytesRead } = (await getJson<{ resources: { bytesRead: number } }>(url, '/api/status')).resources
      fillStore(store, { chats: 6, messagesPerChat: 20 })
      const status = await untilState(url, 'degraded')
      expect(status.reasons[0]).toMatch(
        /^busy: .*9p mount and is copied every ten minutes. The next copy is in \d+ min/,
      )
      await pause(2500)
      const { resources } = await getJson<{ resources: { bytesRead: number } }>(url, '/api/status')
      expect(resources.bytesRead).toBe(bytesRead)
      expect(existsSync(copies)).toBe(false)
    } finally {
      await place.remove()
      build.remove()
    }
  },
)
