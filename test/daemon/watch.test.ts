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
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startWatch, type Watch } from '../../src/daemon/follow/watch.ts'
import { waitUntil } from '../helpers/wait-until.ts'

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
  await watch.close()
  rmSync(root, { recursive: true, force: true })
})

/** Writes again and again, because events from before the watch really started are lost. */
const untilTold = (path: string): Promise<unknown> =>
  waitUntil(`an event of ${path}`, () => {
    appendFileSync(path, '.')
    return seen.includes(path)
  })

/** The inodes that this process watches. */
function watchedInodes(): number[] {
  const tellings = readdirSync('/proc/self/fdinfo').flatMap((name) => readIfThere(join('/proc/self/fdinfo', name)))
  return tellings
    .flatMap((text) => [...text.matchAll(/^inotify .* ino:([0-9a-f]+)/gm)].map(([, ino]) => `0x${ino}`))
    .map(Number)
}

/** A descriptor may be closed meanwhile, for example the one of the list itself. */
function readIfThere(path: string): string[] {
  try {
    return [readFileSync(path, 'utf8')]
  } catch {
    return []
  }
}

test.runIf(process.platform === 'linux')(
  'if a folder of Cursor was missing, the home folder was watched, and listed at each write in it',
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

test('a folder that appears later is watched after the next call', async () => {
  watch.follow([folder], [file])
  mkdirSync(folder)
  writeFileSync(file, '')
  watch.follow([folder], [file])
  await untilTold(file)
  expect(seen).toContain(file)
})

/** Creates the folder with a file in it, and waits for an event. */
async function followNew(): Promise<void> {
  mkdirSync(folder)
  writeFileSync(file, '')
  seen = []
  watch.follow([folder], [file])
  await untilTold(file)
}

const untilMissed = (): Promise<unknown> => waitUntil('the folder to be missed', () => seen.includes(folder))

test('a folder that was moved away and back had no more events', async () => {
  await followNew()
  renameSync(folder, `${folder}.away`)
  await untilMissed()
  await followNew()
  expect(seen).toContain(file)
})

test('a folder that is removed and created again, perhaps with the same inode, is watched', async () => {
  await followNew()
  rmSync(folder, { recursive: true })
  await untilMissed()
  watch.follow([folder], [file])
  await followNew()
  expect(seen).toContain(file)
})
