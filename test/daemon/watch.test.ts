import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startWatch, watchError, type Watch } from '../../src/daemon/follow/watch.ts'
import { waitUntil } from '../helpers/wait-until.ts'

/** The inode of every folder, where one is given: that of what was removed is soon another's on ext4, and never on tmpfs. */
let inode: bigint | null = null
vi.mock(import('node:fs'), async (importOriginal) => {
  const fs = await importOriginal()
  const withInode = (...given: Parameters<typeof fs.statSync>) => {
    const stat = fs.statSync(...given)
    return typeof stat?.ino === 'bigint' && inode !== null ? Object.assign(stat, { ino: inode }) : stat
  }
  return { ...fs, statSync: withInode as typeof fs.statSync }
})

let root: string
let folder: string
let file: string
let seen: string[]
let watch: Watch
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cursordex-watch-'))
  folder = join(root, 'globalStorage')
  file = join(folder, 'state.vscdb')
  seen = []
  watch = startWatch(
    (where, name) => seen.push(join(where, name)),
    (error) => seen.push(String(error)),
  )
})
afterEach(async () => {
  inode = null
  await watch.close()
  rmSync(root, { recursive: true, force: true })
})

/** Events of what was written before it was watched in earnest are lost: it is written again. */
const untilTold = (path: string): Promise<unknown> =>
  waitUntil(`an event of ${path}`, () => {
    appendFileSync(path, '.')
    return seen.includes(path)
  })

/** Inodes of what this process has the system watch. */
function watchedInodes(): number[] {
  const tellings = readdirSync('/proc/self/fdinfo').flatMap((name) => readIfThere(join('/proc/self/fdinfo', name)))
  return tellings
    .flatMap((text) => [...text.matchAll(/^inotify .* ino:([0-9a-f]+)/gm)].map(([, ino]) => `0x${ino}`))
    .map(Number)
}

/** A descriptor may be closed meanwhile, such as that of the list itself. */
function readIfThere(path: string): string[] {
  try {
    return [readFileSync(path, 'utf8')]
  } catch {
    return []
  }
}

test.runIf(process.platform === 'linux')(
  'where a folder of Cursor was not there the home folder was watched, and listed whenever a file in it was written',
  async () => {
    const home = join(root, 'home')
    mkdirSync(home)
    mkdirSync(folder)
    writeFileSync(file, '')
    watch.follow([join(home, '.cursor'), join(home, '.cursor', 'projects')], [])
    watch.follow([folder], [file])
    await untilTold(file)
    const watched = watchedInodes()
    expect(watched).toContain(statSync(folder).ino)
    expect(watched).not.toContain(statSync(home).ino)
  },
)

test('a folder that appears is watched when it is asked for again', async () => {
  watch.follow([folder], [file])
  mkdirSync(folder)
  writeFileSync(file, '')
  watch.follow([folder], [file])
  await untilTold(file)
  expect(seen).toContain(file)
})

/** Makes the folder, with a file in it, and waits until what happens there is told. */
async function followNew(): Promise<void> {
  mkdirSync(folder)
  writeFileSync(file, '')
  seen = []
  watch.follow([folder], [file])
  await untilTold(file)
}

const untilMissed = (): Promise<unknown> => waitUntil('the folder to be missed', () => seen.includes(folder))

test('of a folder that was moved away, and is there again, events came no more', async () => {
  await followNew()
  renameSync(folder, `${folder}.away`)
  await untilMissed()
  await followNew()
  expect(seen).toContain(file)
})

test('a folder that is removed and made again, of the same inode perhaps, is watched', async () => {
  await followNew()
  rmSync(folder, { recursive: true })
  await untilMissed()
  watch.follow([folder], [file])
  await followNew()
  expect(seen).toContain(file)
})

test('of a folder that was made anew within a moment, as from a backup, with the same inode, events came no more', async () => {
  inode = 1n
  const later = join(folder, 'later.vscdb')
  // As the folder of all workspaces is.
  watch.follow([root], [later])
  await followNew()
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  // What is told of the removal makes the folder be listed, once.
  await sleep(500)
  watch.follow([root, folder], [])
  await untilTold(later)
  expect(seen).toContain(later)
})

test('without events a message was promised within a second in every store, and took a minute in those long at rest', () => {
  const told = watchError(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
  expect(told).toContain('the limit of watches of this system is reached')
  expect(told).toContain('within a minute in others')
})
