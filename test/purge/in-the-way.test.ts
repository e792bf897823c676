import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listRunNames, readManifest } from '../../src/api/archives/manifest-files.ts'
import { objectPath } from '../../src/archive/names.ts'
import { PurgeHome } from '../helpers/purge-home.ts'
import { chatsOf } from '../helpers/purge-world.ts'

let place: PurgeHome
let dir: string
/** The file of the archived chat. */
let path: string
let elsewhere: string

beforeEach(async () => {
  place = new PurgeHome()
  elsewhere = mkdtempSync(join(tmpdir(), 'cursordex-elsewhere-'))
  place.chat('a', ['quixotic'])
  place.pass()
  await place.archive()
  dir = join(place.folder, 'archives')
  path = join(dir, objectPath(named()[0]?.object ?? ''))
})
afterEach(() => {
  place.remove()
  rmSync(elsewhere, { recursive: true, force: true })
})

function named() {
  const read = readManifest(dir, listRunNames(dir)[0] ?? '')
  if (read.kind === 'damaged') throw new Error(read.why)
  return read.value.chats
}

test('a folder in place of an archived chat is reported, and the run does not name the chat any more', async () => {
  rmSync(path)
  mkdirSync(path)
  const report = await place.purging.purge(chatsOf('a'))
  expect(report.archives.damaged).toMatchObject([{ kind: 'object', chatId: 'a' }])
  expect(named()).toEqual([])
})

test('a purged chat with a missing file is removed from the list of its archive', async () => {
  rmSync(path)
  await place.purging.purge(chatsOf('a'))
  expect(named()).toEqual([])
})

/** Moves something of the archive to another place, with a link where it was. */
function moveAway(from: string): void {
  renameSync(from, join(elsewhere, 'moved'))
  symlinkSync(join(elsewhere, 'moved'), from)
}

test.each([
  ['one folder of archived chats', (): string => dirname(path)],
  ['the folder of all archived chats', (): string => join(dir, 'objects')],
])('if %s was moved away and linked, it is reported as not searched', async (_, which) => {
  moveAway(which())
  const { check } = await place.purging.purge({ match: 'quixotic' })
  expect(check?.unread).toEqual([relative(place.folder, which())])
})

test('an archived chat that is a link is reported as not searched', async () => {
  moveAway(path)
  const { check, archives } = await place.purging.purge({ match: 'quixotic' })
  expect(archives.damaged).toMatchObject([{ kind: 'object', chatId: 'a' }])
  expect(check).toMatchObject({ found: [], unread: [relative(place.folder, path)] })
})
