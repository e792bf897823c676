import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { handlesAtRest } from './measure-harm.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
  mkdirSync(dirname(place.cursor.globalPath), { recursive: true })
})
afterEach(() => place.remove())

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const bytesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [name, `${statSync(join(folder, name)).mtimeMs} ${sha256(join(folder, name))}`]),
  )

const full = { method: 'POST', body: '{"full":true}', headers: { 'content-type': 'application/json' } }

describe.each([
  { what: 'small, with a WAL', textLength: 40, isQuit: false },
  { what: 'of 35 MB, quit', textLength: 175_000, isQuit: true },
])('a store that is $what', ({ textLength, isQuit }) => {
  test('keeps every byte of file and WAL in a first and a full pass, and no handle stays open', async () => {
    const store = place.cursor.global()
    fillStore(store, { chats: 10, messagesPerChat: 20, textLength })
    store.db.pragma('wal_checkpoint(truncate)')
    if (!isQuit) fillStore(store, { chats: 1, messagesPerChat: 5, textLength })
    // The bytes on the disk. Nobody writes any more. If Cursor quit, the last connection is closed.
    if (isQuit) store.close()
    const folder = dirname(place.cursor.globalPath)
    const before = bytesOf(folder)
    const { daemon, url } = await place.serve()
    await untilReady(url)
    await getJson(url, '/api/sync', full)
    expect(await handlesAtRest(daemon.pid, place.cursor.root)).toEqual([])
    await daemon.stop()
    const after = bytesOf(folder)
    // A reader may leave an empty WAL, which Cursor removes when it next quits.
    const left = Object.keys(after).filter((name) => !(name in before))
    expect(left.map((name) => statSync(join(folder, name)).size).filter((size) => size > 0)).toEqual([])
    for (const [name, bytes] of Object.entries(before)) expect(`${name} ${after[name]}`).toBe(`${name} ${bytes}`)
  })
})
