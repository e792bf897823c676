import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { casesBeside } from '../../helpers/cases.ts'
import { call, line, lines, query, said, writeTranscript } from '../../helpers/eras/transcripts.ts'
import { openIndexed } from '../../helpers/in-process.ts'
import { PurgeHere } from '../../helpers/purge-world.ts'
import { World } from '../../helpers/world.ts'

const cases = casesBeside(import.meta.url)

interface MovedChat {
  readonly name: string
  readonly id: string
  /** By folder. */
  readonly folders: Readonly<Record<string, readonly string[]>>
  readonly file?: string
  readonly thread: readonly string[]
  readonly orphans?: readonly string[]
}

interface RewrittenChat {
  readonly name: string
  readonly id: string
  /** What the file contains at each pass. */
  readonly steps: readonly (readonly string[])[]
  readonly thread: readonly string[]
  readonly deleted: readonly string[]
}

const moved = cases<MovedChat>('moved')
const rewritten = cases<RewrittenChat>('rewritten')
let world: World

beforeAll(async () => {
  world = await World.open()
  for (const { id, folders, file } of moved)
    for (const [slug, told] of Object.entries(folders)) write(slug, file ?? id, told)
  for (const { id, steps } of rewritten) write('yard-kiln', id, steps[0] ?? [])
  await world.sync()
})
afterAll(() => world.remove())

/** `> ` begins a prompt, `$ ` a call. */
function recordOf(told: string): object {
  if (told.startsWith('> ')) return line('user', said(query(told.slice(2))))
  const [words = '', command] = told.split(/ ?\$ /)
  const text = words === '' ? [] : [said(words)]
  return line('assistant', ...text, ...(command === undefined ? [] : [call('Shell', { command })]))
}
const write = (slug: string, file: string, told: readonly string[]): string =>
  writeTranscript(world.cursorHome, slug, `${file}.jsonl`, lines(...told.map(recordOf)))

interface Message {
  readonly id: string
  readonly isOrphan: boolean
  readonly deletedInCursor: boolean
  readonly parts: readonly { readonly text?: string; readonly input?: { readonly command: string } }[]
}

const told = ({ parts }: Message): string => parts.map(({ text, input }) => text ?? `$ ${input?.command}`).join(' ')
const listOf = async (id: string, of = world): Promise<readonly Message[]> =>
  (await of.get<{ items: Message[] }>(`/api/chats/${id}/messages?limit=200&includeOrphans=true`)).items
const threadOf = async (id: string): Promise<readonly string[]> =>
  (await listOf(id)).filter(({ isOrphan }) => !isOrphan).map(told)
const deletedOf = async (id: string): Promise<Message[]> =>
  (await listOf(id)).filter(({ deletedInCursor }) => deletedInCursor)
const hits = async (word: string, id: string): Promise<number> => (await world.found(`${word} chat:${id}`)).length
const lossesOf = async (id: string): Promise<string[]> =>
  (await world.losses()).filter((loss) => loss.split(' ')[1] === id).toSorted()

async function expectNothingNew(): Promise<void> {
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
}

test.each(moved)('of a chat in several folders, $name', async ({ id, thread, orphans = [] }) => {
  const list = await listOf(id)
  expect(await threadOf(id)).toEqual(thread)
  const beside = list.filter(({ isOrphan }) => isOrphan).map(told)
  expect(beside.toSorted()).toEqual(orphans)
  for (const each of new Set([...thread, ...orphans])) {
    const times = [...thread, ...orphans].filter((one) => one === each).length
    expect([each, await hits(each.replace('$ ', ''), id)]).toEqual([each, times])
  }
  expect(new Set(list.map((message) => message.id)).size).toBe(list.length)
  expect(await deletedOf(id)).toEqual([])
})

test('chats in several folders are the same in a later mirror, whichever folder came first', async () => {
  await expectNothingNew()
  write('z-first', 'order', ['> apricot', 'basil', '> cherry'])
  await world.sync()
  write('b-later', 'order', ['> apricot', 'dill', '> cherry', 'endive'])
  await world.sync()
  expect(await threadOf('order')).toEqual(['apricot', 'basil', 'dill', 'cherry', 'endive'])
  const fresh = await World.open({ home: world.home })
  await fresh.sync()
  for (const id of [...moved.map((chat) => chat.id), 'order']) {
    const facts = (list: readonly Message[]): readonly string[] =>
      list.map((message) => `${message.id} ${told(message)}`)
    expect([id, facts(await listOf(id, fresh))]).toEqual([id, facts(await listOf(id))])
  }
  await fresh.close()
})

test('a chat in two folders goes on in one of them, and later the other catches up', async () => {
  write('a', 'growing', ['> apricot', 'basil'])
  write('b', 'growing', ['> apricot', 'cherry'])
  await world.sync()
  const ids = async (): Promise<ReadonlyMap<string, string>> =>
    new Map((await listOf('growing')).map((one) => [told(one), one.id]))
  const before = await ids()
  write('b', 'growing', ['> apricot', 'cherry', '> dill', 'endive'])
  await world.sync()
  write('a', 'growing', ['> apricot', 'basil', '> dill', 'endive'])
  await world.sync()
  expect(await threadOf('growing')).toEqual(['apricot', 'cherry', 'basil', 'dill', 'endive'])
  for (const [words, id] of before) expect([words, (await ids()).get(words)]).toEqual([words, id])
  expect(await lossesOf('growing')).toEqual([])
  await expectNothingNew()
  expect([await hits('endive', 'growing'), await hits('cherry', 'growing')]).toEqual([1, 1])
})

test('of a chat in two folders nothing is lost if one folder is removed, and what is on no disk is if one file is', async () => {
  for (const id of ['folder', 'file']) {
    write('gone', id, ['> apricot', 'basil', '> cherry'])
    write('stays', id, ['> apricot', 'dill', '> cherry', 'endive'])
  }
  await world.sync()
  rmSync(join(world.cursorHome, 'projects', 'gone', 'agent-transcripts', 'file.jsonl'))
  await world.sync()
  expect(await lossesOf('file')).toEqual([expect.stringContaining('message')])
  expect((await deletedOf('file')).map(told)).toEqual(['basil'])
  rmSync(join(world.cursorHome, 'projects', 'gone'), { recursive: true })
  write('stays', 'folder', ['> apricot', 'dill', '> cherry', 'endive', '> fennel'])
  await world.sync()
  expect(await lossesOf('folder')).toEqual([])
  // A chat whose file is gone belongs to another folder after its next reading.
  await world.sync(true)
  await expectNothingNew()
  expect(await threadOf('folder')).toEqual(['apricot', 'basil', 'dill', 'cherry', 'endive', 'fennel'])
  for (const word of ['basil', 'dill', 'fennel']) expect([word, await hits(word, 'folder')]).toEqual([word, 1])
})

test('a purge in one of two folders makes no message of the other one a loss', async () => {
  const { home, indexer } = openIndexed()
  const say = (slug: string, words: readonly string[]): string =>
    writeTranscript(join(home.root, '.cursor'), slug, 'purged.jsonl', lines(...words.map(recordOf)))
  say('a', ['> apricot', 'zucchini', '> cherry'])
  say('b', ['> apricot', 'dill', '> cherry'])
  await indexer.pass()
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge({ match: 'zucchini' })
  indexer.restart()
  await indexer.pass('values')
  const thread = indexer.thread('purged').filter(([, position]) => position !== null)
  expect(thread.map(([, , text]) => text)).toEqual(['apricot', 'dill', 'cherry'])
  expect([indexer.losses(), indexer.counts.gone]).toEqual([[], 0])
})

test.each(rewritten)('a line of a transcript $name', async ({ id, steps, thread, deleted }) => {
  for (const step of steps.slice(1)) {
    write('yard-kiln', id, step)
    await world.sync()
  }
  expect(await threadOf(id)).toEqual(thread)
  const shown = (await deletedOf(id)).filter((message) => !thread.includes(told(message)))
  expect(shown.map(told).toSorted()).toEqual(deleted)
  expect(await lossesOf(id)).toEqual(shown.map((message) => `message ${id} ${message.id}`).toSorted())
  for (const each of [...thread, ...deleted])
    expect([each, await hits(`"${each.replace('$ ', '')}"`, id)]).toEqual([each, 1])
  write('yard-kiln', id, steps.at(-1) ?? [])
  await expectNothingNew()
})
