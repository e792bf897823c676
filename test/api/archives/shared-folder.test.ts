import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PruneOrder } from '../../../src/api/archives/make-run.ts'
import { headers } from '../../helpers/cursor.ts'
import { executorHere } from '../../helpers/engine-here.ts'
import { World } from '../../helpers/world.ts'

// Two data folders share an archive folder, as two computers or two users may do.
const NAME = '20260201T030000Z-weekly'
const LATER = '20260201T030107Z-weekly'
const LAST = '20260201T030207Z-weekly'

const root = mkdtempSync(join(tmpdir(), 'cursordex-shared-'))
const dir = join(root, 'archives')
let ours: World
let theirs: World

async function openWorld(chat: string): Promise<World> {
  const world = await World.open()
  const store = world.home.global()
  store.chat(chat, { fullConversationHeadersOnly: headers(['m1']) })
  store.message(chat, 'm1', { type: 1, text: 'said' })
  await world.sync()
  return world
}

beforeAll(async () => {
  ours = await openWorld('ours')
  theirs = await openWorld('theirs')
})
afterAll(async () => {
  await ours.remove()
  await theirs.remove()
  rmSync(root, { recursive: true, force: true })
})

const archive = (world: World, name: string, prune: PruneOrder | null): Promise<unknown> =>
  executorHere(world.mirrorPath, () => world.mirror).run('archive', {
    dir,
    name,
    scope: null,
    timeZone: 'UTC',
    version: '1',
    prune,
  })

/** The chat in each run. */
const chatsOf = (): (string | undefined)[] =>
  readdirSync(join(dir, 'runs'))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => /"(ours|theirs)"/.exec(readFileSync(join(dir, 'runs', name), 'utf8'))?.[1])

test('a job takes no name of another machine’s run, and keeps its runs when it prunes', async () => {
  const prune = { job: 'weekly', keep: { daily: 0, weekly: 4, monthly: 0 } }
  await archive(ours, NAME, prune)
  await expect(archive(theirs, NAME, prune)).rejects.toThrow(/^Another program just made the archive /)
  expect(chatsOf()).toEqual(['ours'])
  await archive(theirs, LATER, prune)
  expect(chatsOf()).toEqual(['ours', 'theirs'])
  await archive(ours, LAST, prune)
  expect(chatsOf()).toEqual(['theirs', 'ours'])
})
