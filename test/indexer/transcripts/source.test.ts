import {
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { casesBeside } from '../../helpers/cases.ts'
import type { CursorHome } from '../../helpers/cursor.ts'
import { line, lines, query, said, trust, writeTranscript } from '../../helpers/eras/transcripts.ts'
import { actAsOther } from '../../helpers/as-other-user.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

const cases = casesBeside(import.meta.url)

let cursor: CursorHome
let home: string
let indexer: Indexer

beforeEach(() => {
  ;({ home: cursor, indexer } = openIndexed())
  home = join(cursor.root, '.cursor')
})

const textsOf = (chatId: string): (string | null)[] =>
  indexer
    .messages(chatId)
    .filter(({ deletedInCursor }) => !deletedInCursor)
    .map(({ parts }) => parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))[0] ?? null)
const chatIds = (): string[] => indexer.chats.map(({ id }) => id)
const projectOf = (chatId: string): string | null => indexer.chat(chatId)?.project?.name ?? null

const chat = (...texts: readonly string[]): string => lines(...texts.map((text) => line('user', said(query(text)))))
const write = (file: string, content: string, slug = 'yard-kiln'): string => writeTranscript(home, slug, file, content)
const nothingNew = { added: 0, changed: 0, gone: 0 }

test('new lines of a transcript are added, its messages stay the same, and only its file is read', async () => {
  write('a/a.jsonl', chat('one'))
  write('b.jsonl', chat('other'))
  await indexer.pass()
  const [before] = indexer.thread('a')
  const path = write('a/a.jsonl', chat('one', 'two'))
  const steps = await indexer.steps()
  expect(steps.reduce((sum, { bytesRead }) => sum + bytesRead, 0)).toBe(statSync(path).size)
  expect(textsOf('a')).toEqual(['one', 'two'])
  expect(indexer.thread('a')[0]).toEqual(before)
})

test('a chat in two files of a folder is one chat, from the more complete file', async () => {
  write('a.txt', `user:\n${query('one')}\n\nassistant:\ntwo\n`)
  write('a/a.jsonl', chat('one'))
  await indexer.pass()
  expect([chatIds(), textsOf('a')]).toEqual([['a'], ['one', 'two']])
  const path = write('a/a.jsonl', chat('uno', 'due', 'tre'))
  await indexer.pass()
  expect([chatIds(), textsOf('a')]).toEqual([['a'], ['uno', 'due', 'tre']])
  rmSync(dirname(path), { recursive: true })
  await indexer.pass()
  expect([chatIds(), textsOf('a')]).toEqual([['a'], ['one', 'two']])
})

describe('of a chat in several formats', () => {
  const listed = (...texts: readonly string[]): string =>
    JSON.stringify(texts.map((text, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', text })))

  test.each(cases<[string, Record<string, string>, string]>('messages come from'))(
    'messages come from %s',
    async (_, files, second) => {
      for (const [file, content] of Object.entries(files)) write(file, content)
      await indexer.pass()
      expect([chatIds(), textsOf('a')[1]]).toEqual([['a'], second])
      expect(await indexer.pass('values')).toMatchObject(nothingNew)
    },
  )

  test('the messages stay the same if another format with as many takes over', async () => {
    write('a.txt', `user:\n${query('one')}\n\nassistant:\ntwo\n`)
    await indexer.pass()
    write('a.json', listed('one', 'two'))
    expect(await indexer.pass()).toMatchObject({ added: 0, gone: 0 })
  })

  const withAction = `user:\n${query('one')}\n\nassistant:\ntwo\n\nassistant:\nyes\n\nuser:\n${query('three')}\n`
  const all = ['one', 'two', 'three', '4', 'five']

  test('the change to another format causes no loss and no orphan', async () => {
    write('a.txt', withAction)
    await indexer.pass()
    write('a.json', listed(...all))
    await indexer.pass()
    expect([textsOf('a'), indexer.losses()]).toEqual([all, []])
    expect(await indexer.pass('values')).toMatchObject(nothingNew)
  })

  test('messages of a torn file stay, and no other format replaces it', async () => {
    write('a.txt', withAction)
    write('a.json', listed(...all))
    await indexer.pass()
    write('a.json', listed(...all).slice(0, -4))
    await indexer.pass()
    expect([textsOf('a'), indexer.losses()]).toEqual([all, []])
    write('a.json', listed('one', 'two', 'three', '4'))
    await indexer.pass()
    expect([textsOf('a').slice(0, 4), indexer.losses()]).toEqual([all.slice(0, 4), [expect.anything()]])
  })
})

describe('a root', () => {
  beforeEach(() => {
    write('a.jsonl', chat('one'))
  })

  test('that becomes known later counts for files read before', async () => {
    await indexer.pass()
    expect(projectOf('a')).toBeNull()
    trust(home, 'yard-kiln', '/yard/kiln')
    await indexer.pass()
    expect(projectOf('a')).toBe('kiln')
  })

  test.each(['{', '[]', '{"workspacePath":7}', ''])('is unknown if the file says %s', async (trustJson) => {
    writeFileSync(join(home, 'projects', 'yard-kiln', '.workspace-trusted'), trustJson)
    await indexer.pass()
    expect([projectOf('a'), chatIds()]).toEqual([null, ['a']])
  })

  // On Windows the path of the temporary folder contains a drive and a shortened name.
  test.skipIf(process.platform === 'win32')('is found on the disk where the name can be one folder only', async () => {
    const root = join(cursor.root, 'my shop')
    mkdirSync(root)
    const slug = root.slice(1).replace(/[^a-z0-9]+/gi, '-')
    write('b.jsonl', chat('one'), slug)
    await indexer.pass()
    expect(projectOf('b')).toBe('my shop')
    mkdirSync(join(cursor.root, 'my-shop'))
    write('c.jsonl', chat('one'), slug)
    await indexer.pass()
    // The disk no longer tells, but one of the two is a known project.
    expect(projectOf('c')).toBe('my shop')
  })
})

describe('a file', () => {
  test('that is emptied to be rewritten leaves its chat unchanged', async () => {
    truncateSync(await writeAndPass('a.jsonl', chat('one', 'two')))
    expect(await indexer.pass()).toMatchObject({ gone: 0 })
    expect([textsOf('a'), indexer.issues]).toEqual([['one', 'two'], ['a.jsonl null-value']])
    write('a.jsonl', chat('one', 'two', 'three'))
    expect(await indexer.pass()).toMatchObject({ added: 1, changed: 0, gone: 0 })
    expect(indexer.issues).toEqual([])
  })

  const writeAndPass = async (file: string, content: string): Promise<string> => {
    const path = write(file, content)
    await indexer.pass()
    return path
  }

  test('that is too large is an issue, and what was read of it stays', async () => {
    truncateSync(await writeAndPass('a.jsonl', chat('one')), 33 * 1024 * 1024)
    expect(await indexer.pass()).toMatchObject({ gone: 0 })
    expect([textsOf('a'), indexer.issues]).toEqual([['one'], ['a.jsonl too-large']])
  })

  test('that is rewritten with the same size is recognised by its time', async () => {
    const path = await writeAndPass('a.jsonl', chat('one'))
    writeFileSync(path, chat('two'))
    utimesSync(path, 1, 2)
    await indexer.pass()
    expect(textsOf('a')).toEqual(['two'])
  })

  test('with another name or in another folder is no transcript', async () => {
    for (const file of cases<string>('no transcripts')) write(file, chat('one'))
    write('z.jsonl', chat('one'))
    await indexer.pass()
    expect(chatIds()).toEqual(['z'])
  })
})

// Windows lets few users make links, and has no such permissions.
describe.skipIf(process.platform === 'win32')('what is not to be read', () => {
  test('a link to a file or a folder is skipped', async () => {
    const outside = join(cursor.root, 'outside')
    mkdirSync(join(outside, 'b'), { recursive: true })
    writeFileSync(join(outside, 'a.jsonl'), chat('one'))
    writeFileSync(join(outside, 'b', 'b.jsonl'), chat('one'))
    const transcripts = dirname(write('c.jsonl', chat('one')))
    symlinkSync(join(outside, 'a.jsonl'), join(transcripts, 'a.jsonl'))
    symlinkSync(join(outside, 'b'), join(transcripts, 'b'))
    symlinkSync(join(home, 'projects', 'yard-kiln'), join(home, 'projects', 'link'))
    mkdirSync(join(home, 'projects', 'other'))
    symlinkSync(outside, join(home, 'projects', 'other', 'agent-transcripts'))
    await indexer.pass()
    expect([indexer.sources.filter(({ kind }) => kind === 'transcripts').length, chatIds()]).toEqual([1, ['c']])
  })

  // Only root can give a file to another user.
  test.skipIf(process.getuid?.() !== 0)('a file of another user is an issue', async () => {
    chownSync(write('a.jsonl', chat('one')), 65_534, 65_534)
    await indexer.pass()
    expect([chatIds(), indexer.issues]).toEqual([[], ['a.jsonl unreadable-page']])
  })

  test('an unreadable file is an issue, and is read once it is readable', async () => {
    const path = write('a.jsonl', chat('one'))
    write('b.jsonl', chat('one'))
    chmodSync(path, 0)
    await actAsOther([cursor.root, indexer.folder], async () => await indexer.pass())
    expect([chatIds(), indexer.issues]).toEqual([['b'], ['a.jsonl unreadable-page']])
    chmodSync(path, 0o600)
    await actAsOther([cursor.root, indexer.folder], async () => await indexer.pass())
    expect([chatIds(), indexer.issues]).toEqual([['a', 'b'], []])
  })

  test('an unreadable folder leaves everything unchanged', async () => {
    const path = write('a/a.jsonl', chat('one'))
    await actAsOther([cursor.root, indexer.folder], async () => await indexer.pass())
    chmodSync(dirname(path), 0)
    const look = async (): Promise<unknown> => await indexer.pass('keys')
    expect(await actAsOther([cursor.root, indexer.folder], look)).toMatchObject({ gone: 0 })
    expect(textsOf('a')).toEqual(['one'])
    chmodSync(dirname(path), 0o700)
  })
})

test('a folder of transcripts changes its signature with every relevant change', () => {
  const path = write('a/a.jsonl', chat('one'))
  const changes: (() => unknown)[] = [
    () => undefined,
    () => writeFileSync(path, chat('two')),
    () => write('a/subagents/b.jsonl', chat('one')),
    () => renameSync(path, join(dirname(path), '..', 'a.jsonl')),
    () => trust(home, 'yard-kiln', '/yard/kiln'),
    () => rmSync(join(home, 'projects'), { recursive: true }),
  ]
  const seen = changes.map((change) => {
    change()
    return indexer.signatureOf('transcripts')
  })
  expect([new Set(seen).size, seen.at(-1) ?? null]).toEqual([6, null])
})
