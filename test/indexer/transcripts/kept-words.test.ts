import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome } from '../../helpers/cursor.ts'
import { call, line, lines, query, said, writeTranscript } from '../../helpers/eras/transcripts.ts'
import { RunningDaemon } from '../../helpers/running-daemon.ts'

const home = new CursorHome()
const cursorHome = join(home.root, '.cursor')
const start = (dataDir?: string): Promise<RunningDaemon> =>
  RunningDaemon.start({
    userDirs: [home.userDir],
    flags: ['--cursor-home', cursorHome, '--config', config],
    ...(dataDir === undefined ? {} : { dataDir }),
  })
/** The machine of the tests may be busy. */
const config = join(home.root, 'config.json')
writeFileSync(config, JSON.stringify({ search: { deadlineMs: 30_000 } }))
let daemon: RunningDaemon

beforeAll(async () => {
  for (const { id, folders, file } of moved)
    for (const [slug, told] of Object.entries(folders)) write(slug, file ?? id, told)
  for (const { id, steps } of rewritten) write('yard-kiln', id, steps[0] ?? [])
  daemon = await start()
  await daemon.waitReady()
})
afterAll(async () => {
  await daemon?.stop()
  home.remove()
})

/** `> ` begins a prompt, `$ ` a call. */
function recordOf(told: string): object {
  if (told.startsWith('> ')) return line('user', said(query(told.slice(2))))
  const [words = '', command] = told.split(/ ?\$ /)
  const text = words === '' ? [] : [said(words)]
  return line('assistant', ...text, ...(command === undefined ? [] : [call('Shell', { command })]))
}
const write = (slug: string, file: string, told: readonly string[]): string =>
  writeTranscript(cursorHome, slug, `${file}.jsonl`, lines(...told.map(recordOf)))

interface Message {
  readonly id: string
  readonly isOrphan: boolean
  readonly deletedInCursor: boolean
  readonly parts: readonly { readonly text?: string; readonly input?: { readonly command: string } }[]
}

const told = ({ parts }: Message): string => parts.map(({ text, input }) => text ?? `$ ${input?.command}`).join(' ')
const listOf = async (id: string, of = daemon): Promise<readonly Message[]> =>
  (await of.get<{ items: Message[] }>(`/api/chats/${id}/messages?limit=200&includeOrphans=true`)).items
const threadOf = async (id: string): Promise<readonly string[]> =>
  (await listOf(id)).filter(({ isOrphan }) => !isOrphan).map(told)
const hits = async (word: string, id: string): Promise<number> =>
  (await daemon.get<{ total: number }>(`/api/search?q=${word}&chat=${id}`)).total
const sync = (): Promise<unknown> => daemon.post('/api/sync')
const lossesOf = async (chatId: string): Promise<readonly string[]> => {
  const { items } = await daemon.get<{ items: { kind: string; chatId: string; messageId: string }[] }>(
    '/api/losses?limit=200',
  )
  return items.filter((loss) => loss.chatId === chatId).map(({ kind, messageId }) => `${kind} ${messageId}`)
}

interface MovedChat {
  readonly name: string
  readonly id: string
  /** By folder. */
  readonly folders: Readonly<Record<string, readonly string[]>>
  readonly file?: string
  readonly thread: readonly string[]
  readonly orphans?: readonly string[]
}

const moved: readonly MovedChat[] = [
  {
    name: 'what only one folder has stands between the messages that both have',
    id: 'between',
    folders: {
      'empty-window': ['> apricot', 'basil', '> cherry', 'dill'],
      'yard-kiln': ['> apricot', 'endive', '> cherry', 'fennel', '> grape'],
    },
    thread: ['apricot', 'basil', 'endive', 'cherry', 'dill', 'fennel', 'grape'],
  },
  {
    name: 'a folder that lacks a message in the middle repeats nothing',
    id: 'shifted',
    folders: {
      'empty-window': ['> apricot', 'basil', '> cherry', 'dill'],
      'yard-kiln': ['> apricot', '> cherry', 'dill', '> fig'],
    },
    thread: ['apricot', 'basil', 'cherry', 'dill', 'fig'],
  },
  {
    name: 'a call without a text that only one folder has is found',
    id: 'calls',
    folders: { a: ['> apricot', '$ basil', 'cherry', '> dill'], b: ['> apricot', '$ endive', 'cherry'] },
    thread: ['apricot', '$ endive', '$ basil', 'cherry', 'dill'],
  },
  {
    name: 'the same words that were said twice in one folder are there twice',
    id: 'twice',
    folders: { a: ['> apricot', 'basil', '> cherry', 'dill'], b: ['> apricot', '> apricot', 'basil'] },
    thread: ['apricot', 'apricot', 'basil', 'cherry', 'dill'],
  },
  {
    name: 'of folders with nothing in common one gives the thread, and the other is kept beside it',
    id: 'apart',
    folders: { a: ['> apricot', 'basil', '> cherry'], b: ['> dill', '$ endive'] },
    thread: ['apricot', 'basil', 'cherry'],
    orphans: ['$ endive', 'dill'],
  },
  {
    name: 'each of three folders adds what only it has',
    id: 'three',
    folders: {
      a: ['> apricot', 'basil', '> cherry'],
      b: ['> apricot', '> cherry', 'dill', '> endive', 'fennel'],
      c: ['> apricot', 'grape', '> cherry', 'dill'],
    },
    thread: ['apricot', 'grape', 'basil', 'cherry', 'dill', 'endive', 'fennel'],
  },
  {
    name: 'a subagent in two folders is one chat too',
    id: 'agent',
    file: 'parent/subagents/agent',
    folders: { a: ['> apricot', 'basil', '> cherry'], b: ['> apricot', 'dill'] },
    thread: ['apricot', 'dill', 'basil', 'cherry'],
  },
  {
    name: 'a prompt that is repeated all the time is paired only beside a message that both have',
    id: 'repeated-prompt',
    folders: {
      aa: ['> start', 'one', '> continue', 'two', '> continue', 'three'],
      bb: ['three', '> continue', 'four', '> continue', 'five'],
    },
    thread: ['start', 'one', 'continue', 'two', 'continue', 'three', 'continue', 'four', 'continue', 'five'],
  },
  {
    name: 'a prompt that also stands elsewhere is not hidden',
    id: 'prompt-elsewhere',
    folders: {
      aa: ['> continue', 'alpha', '> start', 'one'],
      bb: ['> start', 'one', '> continue', 'two'],
    },
    thread: ['continue', 'alpha', 'start', 'one', 'continue', 'two'],
  },
  {
    name: 'equal beginnings are paired, even if all their messages are repeated',
    id: 'same-beginning',
    folders: {
      aa: ['> apricot', 'basil', '> apricot', 'basil'],
      bb: ['> apricot', 'basil', '> apricot', 'basil', '> cherry'],
    },
    thread: ['apricot', 'basil', 'apricot', 'basil', 'cherry'],
  },
  {
    name: 'the same words with a call that only one folder has are one message',
    id: 'other-form',
    folders: {
      aa: ['> apricot', 'basil', '> cherry', 'dill'],
      bb: ['> apricot', 'basil $ endive', '> cherry'],
    },
    thread: ['apricot', 'basil', 'cherry', 'dill'],
  },
]

test.each(moved)('of a chat in several folders, $name', async ({ id, thread, orphans = [] }) => {
  const list = await listOf(id)
  expect(await threadOf(id)).toEqual(thread)
  expect(
    list
      .filter(({ isOrphan }) => isOrphan)
      .map(told)
      .toSorted(),
  ).toEqual(orphans)
  for (const each of new Set([...thread, ...orphans])) {
    const times = [...thread, ...orphans].filter((one) => one === each).length
    expect([each, await hits(each.replace('$ ', ''), id)]).toEqual([each, times])
  }
  expect(new Set(list.map((message) => message.id)).size).toBe(list.length)
  expect(list.filter(({ deletedInCursor }) => deletedInCursor)).toEqual([])
})

test('chats in several folders are the same in a later mirror, whichever folder came first', async () => {
  expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  write('z-first', 'order', ['> apricot', 'basil', '> cherry'])
  await sync()
  write('b-later', 'order', ['> apricot', 'dill', '> cherry', 'endive'])
  await sync()
  expect(await threadOf('order')).toEqual(['apricot', 'basil', 'dill', 'cherry', 'endive'])
  const fresh = await start()
  try {
    await fresh.waitReady()
    for (const id of [...moved.map((chat) => chat.id), 'order']) {
      const facts = (list: readonly Message[]): readonly string[] =>
        list.map((message) => `${message.id} ${told(message)}`)
      expect([id, facts(await listOf(id, fresh))]).toEqual([id, facts(await listOf(id))])
    }
  } finally {
    await fresh.stop()
  }
})

test('a chat in two folders goes on in one of them, and later the other catches up', async () => {
  write('a', 'growing', ['> apricot', 'basil'])
  write('b', 'growing', ['> apricot', 'cherry'])
  await sync()
  const ids = async (): Promise<ReadonlyMap<string, string>> =>
    new Map((await listOf('growing')).map((one) => [told(one), one.id]))
  const before = await ids()
  write('b', 'growing', ['> apricot', 'cherry', '> dill', 'endive'])
  await sync()
  write('a', 'growing', ['> apricot', 'basil', '> dill', 'endive'])
  await sync()
  expect(await threadOf('growing')).toEqual(['apricot', 'cherry', 'basil', 'dill', 'endive'])
  for (const [words, id] of before) expect([words, (await ids()).get(words)]).toEqual([words, id])
  expect(await lossesOf('growing')).toEqual([])
  expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect([await hits('endive', 'growing'), await hits('cherry', 'growing')]).toEqual([1, 1])
})

test('of a chat in two folders nothing is lost if one folder is removed, and what is on no disk is if one file is', async () => {
  for (const id of ['folder', 'file']) {
    write('gone', id, ['> apricot', 'basil', '> cherry'])
    write('stays', id, ['> apricot', 'dill', '> cherry', 'endive'])
  }
  await sync()
  rmSync(join(cursorHome, 'projects', 'gone', 'agent-transcripts', 'file.jsonl'))
  await sync()
  expect(await lossesOf('file')).toEqual([expect.stringContaining('message')])
  expect((await listOf('file')).filter(({ deletedInCursor }) => deletedInCursor).map(told)).toEqual(['basil'])
  rmSync(join(cursorHome, 'projects', 'gone'), { recursive: true })
  write('stays', 'folder', ['> apricot', 'dill', '> cherry', 'endive', '> fennel'])
  await sync()
  expect(await lossesOf('folder')).toEqual([])
  // A chat whose file is gone belongs to another folder after its next reading.
  await daemon.post('/api/sync', { full: true })
  expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(await threadOf('folder')).toEqual(['apricot', 'basil', 'dill', 'cherry', 'endive', 'fennel'])
  for (const word of ['basil', 'dill', 'fennel']) expect([word, await hits(word, 'folder')]).toEqual([word, 1])
})

test('a purge in one of two folders makes no message of the other one a loss', async () => {
  write('a', 'purged', ['> apricot', 'zucchini', '> cherry'])
  write('b', 'purged', ['> apricot', 'dill', '> cherry'])
  await sync()
  await daemon.post('/api/purge', { match: 'zucchini', dryRun: false })
  await daemon.post('/api/sync', { full: true })
  expect(await threadOf('purged')).toEqual(['apricot', 'dill', 'cherry'])
  expect(await lossesOf('purged')).toEqual([])
  expect((await listOf('purged')).filter(({ deletedInCursor }) => deletedInCursor)).toEqual([])
})

interface RewrittenChat {
  readonly name: string
  readonly id: string
  /** What the file contains at each pass. */
  readonly steps: readonly (readonly string[])[]
  readonly thread: readonly string[]
  readonly deleted: readonly string[]
}

const rewritten: readonly RewrittenChat[] = [
  {
    name: 'with other words keeps the former ones as a loss',
    id: 'other-words',
    steps: [
      ['> apricot', 'basil'],
      ['> apricot', 'cherry'],
    ],
    thread: ['apricot', 'cherry'],
    deleted: ['basil'],
  },
  {
    name: 'with other words twice keeps each of them',
    id: 'rewritten-twice',
    steps: [
      ['> apricot', 'basil'],
      ['> apricot', 'cherry'],
      ['> apricot', 'dill'],
    ],
    thread: ['apricot', 'dill'],
    deleted: ['basil', 'cherry'],
  },
  {
    name: 'with another call keeps the former call',
    id: 'other-call',
    steps: [
      ['> apricot', '$ basil'],
      ['> apricot', '$ cherry'],
    ],
    thread: ['apricot', '$ cherry'],
    deleted: ['$ basil'],
  },
  {
    name: 'that grows is no loss',
    id: 'growing-line',
    steps: [
      ['> apricot', 'basil'],
      ['> apricot', 'basil and cherry', '> dill'],
    ],
    thread: ['apricot', 'basil and cherry', 'dill'],
    deleted: [],
  },
  {
    name: 'that moves is no loss',
    id: 'moving-line',
    steps: [
      ['> apricot', 'basil', '> cherry'],
      ['> apricot', 'dill', 'basil', '> cherry'],
    ],
    thread: ['apricot', 'dill', 'basil', 'cherry'],
    deleted: [],
  },
  {
    name: 'that is dropped, and whose place is taken later, keeps its words',
    id: 'taken-place',
    steps: [
      ['> apricot', 'basil', '> cherry'],
      ['> apricot', 'basil'],
      ['> apricot', 'basil', '> dill'],
    ],
    thread: ['apricot', 'basil', 'dill'],
    deleted: ['cherry'],
  },
  {
    name: 'that gets its former words back is no loss any more',
    id: 'back',
    steps: [
      ['> apricot', 'basil'],
      ['> apricot', 'basil cherry'],
      ['> apricot', 'dill'],
      ['> apricot', 'basil cherry'],
    ],
    thread: ['apricot', 'basil cherry'],
    deleted: ['dill'],
  },
]

test.each(rewritten)('a line of a transcript $name', async ({ id, steps, thread, deleted }) => {
  for (const step of steps.slice(1)) {
    write('yard-kiln', id, step)
    await sync()
  }
  const list = await listOf(id)
  expect(await threadOf(id)).toEqual(thread)
  const gone = list.filter(({ deletedInCursor }) => deletedInCursor)
  const shown = gone.filter((message) => !thread.includes(told(message)))
  expect(shown.map(told).toSorted()).toEqual(deleted)
  expect((await lossesOf(id)).toSorted()).toEqual(shown.map((message) => `message ${message.id}`).toSorted())
  for (const each of [...thread, ...deleted])
    expect([each, await hits(`"${each.replace('$ ', '')}"`, id)]).toEqual([each, 1])
  write('yard-kiln', id, steps.at(-1) ?? [])
  expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})
