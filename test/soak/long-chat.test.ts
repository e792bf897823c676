import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fillStore } from '../helpers/fill-store.ts'
import { untilReady, Workplace } from '../helpers/spawn-cursordex.ts'

/** What the daemon took at most so far, of memory that nobody shares with it. */
const peakMb = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test.skipIf(process.platform !== 'linux')('one chat of 100,000 messages takes less than 400 MB', async () => {
  const place = new Workplace()
  try {
    fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 100_000, textLength: 2000 })
    const { daemon, url } = await place.serve()
    await untilReady(url, 240_000)
    console.log(`long chat: ${Math.round(peakMb(daemon.pid))} MB at most`)
    expect(peakMb(daemon.pid)).toBeLessThan(400)
  } finally {
    await place.remove()
  }
})
