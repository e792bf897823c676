import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fillStore } from '../../helpers/fill-store.ts'
import { Workplace, type Status } from '../../helpers/spawn-cursordex.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
  fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
  place.cursor.close()
})
afterEach(() => place.remove())

const foldersOf = ({ sources }: Status): string[] => [
  ...new Set(sources.map(({ path, state }) => `${state} ${path.replace(/\/globalStorage.*/, '')}`)),
]

async function look(userDir: string): Promise<string[]> {
  const flags = ['--cursor-user-dir', userDir, '--cursor-home', '', '--data-dir', place.dataDir]
  const { stdout } = await place.run(['status', '--json', ...flags], { isBare: true })
  return foldersOf(JSON.parse(stdout) as Status)
}

test('a folder that was misspelt once is not reported as missing for ever', async () => {
  const misspelt = join(place.root, 'Cursr', 'User')
  expect(await look(misspelt)).toEqual([`missing ${misspelt}`])
  expect(await look(place.cursor.userDir)).toEqual([`ok ${place.cursor.userDir}`])
})

test('a folder that was read is still reported, even if the settings name another one now', async () => {
  await look(place.cursor.userDir)
  const other = join(place.root, 'User')
  expect(await look(other)).toEqual([`ok ${place.cursor.userDir}`, `missing ${other}`])
})
