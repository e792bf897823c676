import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { PassDepth } from '../../src/model/pass.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { openIndexed, type Indexer } from '../helpers/in-process.ts'

let home: CursorHome
let elsewhere: string
let indexer: Indexer

const inline = (id: string) => ({
  composerId: id,
  conversation: [{ bubbleId: 'm1', type: 1, text: 'is it the spoon' }],
})
const composers = (...ids: readonly string[]) => ({ allComposers: ids.map(inline) })

/** Its messages have no ids. */
const nameless = (name: string) => ({
  name,
  conversation: [
    { type: 1, text: 'where is the ladder' },
    { type: 2, text: 'in the shed' },
  ],
})

beforeEach(async () => {
  const opened = openIndexed()
  ;({ home, indexer } = opened)
  elsewhere = join(dirname(home.userDir), 'Elsewhere')
  opened.store.message('kept', 'm1', { type: 1, text: 'where is the lantern' })
  opened.store.message('lost', 'm1', { type: 1, text: 'who has the walnut' })
  opened.store.chat('nameless', nameless('unnamed'))
  home.workspace('w1', { folder: 'file:///home/ada/shop' }).item('composer.composerData', composers('inline'))
  home.close()
  await indexer.pass()
})

async function pass(depth: PassDepth, ...userDirs: readonly string[]): Promise<void> {
  indexer.userDirs = userDirs
  await indexer.pass(depth)
}

/** Its messages with a place. */
const threadOf = (chat: string): string[] =>
  indexer.thread(chat).flatMap(([, position, text]) => (position === null ? [] : text))

test('after the User folder was moved, messages without an id do not appear twice', async () => {
  const before = threadOf('nameless')
  renameSync(home.userDir, elsewhere)
  await pass('tail', elsewhere)
  expect(before).toHaveLength(2)
  expect(threadOf('nameless')).toEqual(before)
  expect(indexer.losses()).toEqual([])
})

test('a chat that goes on in another project belongs to that one', async () => {
  const last = new CursorHome(home.root)
  last.workspace('w1', { folder: 'file:///home/ada/shop' }, ['kept'])
  last.close()
  await pass('tail', home.userDir)
  expect(indexer.placeOf('kept')).toMatchObject({ uri: 'file:///home/ada/shop' })
  // The former list still names it.
  last.workspace('w2', { folder: 'file:///home/ada/farm' }, ['kept'])
  last.close()
  await pass('tail', home.userDir)
  expect(indexer.placeOf('kept')).toMatchObject({ uri: 'file:///home/ada/farm' })
})

describe('a workspace and a folder of transcripts', () => {
  let slug: string
  let workspace: string
  const both = { transcripts: 'ok', 'workspace-items': 'ok' }

  beforeEach(async () => {
    slug = join(home.root, '.cursor', 'projects', 'shop')
    mkdirSync(join(slug, 'agent-transcripts'), { recursive: true })
    const line = { role: 'user', message: { content: 'where is the lantern' } }
    writeFileSync(join(slug, 'agent-transcripts', 'told.jsonl'), `${JSON.stringify(line)}\n`)
    workspace = join(home.userDir, 'workspaceStorage', 'w1')
    await indexer.pass()
  })

  const states = (): Record<string, string> =>
    Object.fromEntries(
      indexer.sources.filter(({ kind }) => Object.hasOwn(both, kind)).map(({ kind, state }) => [kind, state]),
    )

  test('that are deleted are missing, and their chats stay', async () => {
    expect(states()).toEqual(both)
    rmSync(slug, { recursive: true })
    rmSync(workspace, { recursive: true })
    await indexer.pass()
    expect(states()).toEqual({ transcripts: 'missing', 'workspace-items': 'missing' })
    expect(indexer.thread('told').map(([, , text]) => text)).toEqual(['where is the lantern'])
  })

  test('that are back are ok again', async () => {
    renameSync(slug, `${slug}-away`)
    await indexer.pass()
    renameSync(`${slug}-away`, slug)
    await indexer.pass()
    expect(states()).toEqual(both)
  })

  test('that exist but are switched off keep their state', async () => {
    indexer.homes = []
    await indexer.pass()
    expect(states()).toEqual(both)
  })
})
