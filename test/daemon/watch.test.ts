import { appendFileSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Follow, openWatch } from '../../src/daemon/follow/follow.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { watchedInodes } from '../helpers/watched-inodes.ts'

let home: CursorHome
let folder: string
let follow: Follow
let watch: ReturnType<typeof openWatch>
let runs: number
let failure: Error | null

/** It never polls, so that only events can cause a pass. */
function followHere(): Follow {
  return new Follow(
    { userDirs: [home.userDir], homes: [join(home.root, '.cursor')], disabledKinds: [] },
    {
      now: Date.now,
      later: (act, delayMs) => delayMs < 1000 && setTimeout(act, delayMs).unref(),
      hasMore: () => false,
      run: async (orders) => {
        runs += 1
        const well = { kind: '', path: '', state: 'ok', detail: null, again: [], pendingLoss: null } as const
        const ends = orders.map(({ id }) => ({ id, ...well }))
        return { changed: 0, added: 0, gone: 0, backlog: 0, ends }
      },
      watch: (path, onEvent) => watch.watch(path, onEvent),
      warn: (sentence) => (failure = new Error(sentence)),
    },
  )
}

beforeEach(() => {
  home = new CursorHome()
  folder = dirname(home.globalPath)
  ;[runs, failure] = [0, null]
  mkdirSync(folder, { recursive: true })
  watch = openWatch((error) => follow.onWatchError(error))
  follow = followHere()
})
afterEach(async () => {
  follow.stop()
  await watch.close()
  home.remove()
})

/** Writes again and again, because events from before the watch really started are lost. */
async function untilNoticed(path: string): Promise<void> {
  const before = runs
  await waitUntil('a pass', () => {
    appendFileSync(path, '.')
    return runs > before
  })
}

/** New folders are looked for, and what is there is read. */
async function readAll(): Promise<void> {
  await follow.readAll({ depth: 'tail' })
}

test.runIf(process.platform === 'linux')(
  'if a folder of Cursor was missing, the home folder was watched, and listed at each write in it',
  async () => {
    await readAll()
    await untilNoticed(home.globalPath)
    const watched = watchedInodes(process.pid)
    expect(watched).toContain(statSync(folder).ino)
    expect(watched).not.toContain(statSync(home.root).ino)
  },
)

test.each([
  ['moved away and back', () => renameSync(folder, `${folder}.away`), () => renameSync(`${folder}.away`, folder)],
  ['removed and made again', () => rmSync(folder, { recursive: true }), () => mkdirSync(folder)],
])('a folder that was %s had no more events', async (_, leave, comeBack) => {
  await readAll()
  await untilNoticed(home.globalPath)
  leave()
  await readAll()
  comeBack()
  await readAll()
  await untilNoticed(home.globalPath)
  expect(failure).toBeNull()
})

test('if the system’s limit of watches is reached, this is said once, and sources are still read', async () => {
  const noSpace = (): void => follow.onWatchError(Object.assign(new Error('no space'), { code: 'ENOSPC' }))
  noSpace()
  await readAll()
  expect(failure?.message).toMatch('the limit of watches of this system is reached')
  failure = null
  noSpace()
  await readAll()
  expect([failure, runs]).toEqual([null, 2])
})
