import { expect, test } from 'vitest'
import type { Chat } from '../../src/api/answers/chats.ts'
import type { Page } from '../../src/api/answers/common.ts'
import Database from '../../src/sqlite.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { World } from '../helpers/world.ts'

/** Makes the mirror that of an older program: what no first decoder wrote says other words. */
function readByAnOlderDecoder(mirrorPath: string): void {
  const db = new Database(mirrorPath)
  db.exec(
    `update bodies set parts = json_array(json_object('kind', 'text', 'text', 'as an older decoder read it'))
     where num not in (select body from messages join sources on sources.num = source where decoder = 1);
     update sources set decoder = 0 where decoder > 1`,
  )
  db.close()
}

test('after a decoder change every store is read again, with the same result as before', async () => {
  const world = await World.open()
  writeAllEras(world.home, world.cursorHome)
  const dump = async (): Promise<unknown[]> => {
    const path = '/api/chats?limit=200&subagents=true&includeEmpty=true'
    const ids = (await world.get<Page<Chat>>(path)).items.map(({ id }) => id).toSorted()
    expect(ids.length).toBeGreaterThan(10)
    return Promise.all(ids.map(async (id) => [id, await world.thread(id)]))
  }
  try {
    await world.sync(true)
    const before = await dump()
    readByAnOlderDecoder(world.mirrorPath)
    expect(await dump()).not.toEqual(before)
    await world.sync()
    expect(await dump()).toEqual(before)
    expect(await world.losses()).toEqual([])
  } finally {
    await world.remove()
  }
})
