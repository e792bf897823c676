import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OpenMirror } from '../helpers/open-mirror.ts'
import { minute, PurgeHome } from '../helpers/purge-home.ts'
import { chatsIn, restoreHere, wordsIn } from '../helpers/restored-mirror.ts'
import { headers } from '../helpers/cursor.ts'

// A purge rewrites some states of a chat and leaves others. It does not change which state is the newest.
let place: PurgeHome
let empty: OpenMirror

beforeEach(async () => {
  place = new PurgeHome()
  empty = new OpenMirror()
  await grow(['said first'])
})
afterEach(() => {
  place.remove()
  empty.remove()
})

const archives = (of: PurgeHome): string => join(of.folder, 'archives')

/** The chat goes on, and is archived. */
async function grow(texts: readonly string[]): Promise<void> {
  place.chat('a', texts)
  place.pass()
  expect(await place.archive()).toMatchObject({ state: 'verified' })
}

/** Ids of the messages that come back into an empty mirror, of all archives. */
async function restored(dir: string): Promise<string[]> {
  expect(await restoreHere(empty.db, dir)).toMatchObject({ damaged: [], why: null })
  return wordsIn(empty.db).map((line) => line.split(' ')[1] ?? '')
}

test('the last message comes back after a purge of another message in the chat', async () => {
  await grow(['said first', 'quixotic', 'said last'])
  await place.purging.purge({ match: 'quixotic' })
  expect(await restored(archives(place))).toEqual(['a1', 'a3'])
})

test('it also comes back if another mirror purged the folder twice', async () => {
  await grow(['said first', 'quixotic', 'zephyrian', 'said last'])
  const other = new PurgeHome()
  try {
    other.pass()
    cpSync(archives(place), archives(other), { recursive: true })
    await other.purging.purge({ match: 'quixotic' })
    await other.purging.purge({ match: 'zephyrian' })
    expect(await restored(archives(other))).toEqual(['a1', 'a4'])
  } finally {
    other.remove()
  }
})

test('a newer state is restored before an older one that a purge rewrote', async () => {
  await grow(['said first', 'quixotic'])
  for (const key of ['composerData:a', 'bubbleId:a:a2']) place.store.delete(key)
  place.store.chat('a', { name: 'renamed', fullConversationHeadersOnly: headers(['a1', 'a3']) })
  place.store.message('a', 'a3', { type: 2, text: 'said last', createdAt: minute(9) })
  await place.purging.purge({ match: 'quixotic' })
  place.pass()
  expect(await place.archive()).toMatchObject({ state: 'verified' })
  expect(await restored(archives(place))).toEqual(['a1', 'a3'])
  expect(chatsIn(empty.db)).toEqual(['a'])
})
