import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PassDepth, PassEnd } from '../../../src/indexer/source.ts'
import { nursery, transcriptSources } from '../../../src/indexer/sources/transcripts/index.ts'
import { openWriter, type Mirror } from '../../../src/mirror/open.ts'
import type { Part } from '../../../src/model/part.ts'
import {
  eraFlat,
  eraNested,
  line,
  lines,
  query,
  said,
  transcriptEras,
  trust,
  writeTranscript,
} from '../../helpers/eras/transcripts.ts'

let folder = ''
let home = ''
let mirror: Mirror

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'transcripts'))
  home = join(folder, 'cursor')
  mkdirSync(home)
  mirror = openWriter(join(folder, 'mirror.db'))
})

afterEach(() => {
  mirror.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Changes {
  added: number
  changed: number
  gone: number
  bytesRead: number
  readonly ends: PassEnd[]
}

function pass(depth: PassDepth = 'nudge', sources = transcriptSources(home)): Changes {
  const changes: Changes = { added: 0, changed: 0, gone: 0, bytesRead: 0, ends: [] }
  for (const source of sources) {
    const steps = source.pass(mirror, { depth, now: Date.now })
    for (let next = steps.next(); ; next = steps.next()) {
      if (next.done === true) {
        changes.ends.push(next.value)
        break
      }
      changes.added += next.value.outcome?.added ?? 0
      changes.changed += next.value.outcome?.changed ?? 0
      changes.gone += next.value.outcome?.gone ?? 0
      changes.bytesRead += next.value.bytesRead
    }
  }
  return changes
}

const rowsOf = <Row>(sql: string, ...values: readonly string[]): Row[] =>
  mirror.prepare<unknown[], Row>(sql).all(...values)

interface Held {
  readonly role: string
  readonly parts: string
}

const heldOf = (chatId: string): Held[] =>
  rowsOf(
    `select role, parts from messages join bodies on bodies.num = body join chats on chats.num = chat
     where chats.id = ? and messages.is_live = 1 and is_orphan <> 2 order by position is null, position`,
    chatId,
  )

function textsOf(chatId: string): (string | null)[] {
  return heldOf(chatId).map(({ parts }) => {
    const text = (JSON.parse(parts) as Part[]).find((part) => part.kind === 'text')
    return text?.text ?? null
  })
}

const toolsOf = (chatId: string): string[][] =>
  heldOf(chatId).map(({ parts }) =>
    (JSON.parse(parts) as Part[]).flatMap((part) => (part.kind === 'tool' ? [part.name] : [])),
  )

const chatIds = (): string[] => rowsOf<{ id: string }>('select id from chats order by id').map(({ id }) => id)
const issues = (): unknown[] => rowsOf('select key, reason from row_issues order by key')
const rootOf = (chatId: string): string | null =>
  rowsOf<{ uri: string | null }>(
    'select uri from chats left join projects on projects.num = project where chats.id = ?',
    chatId,
  )[0]?.uri ?? null

const chat = (...texts: readonly string[]): string => lines(...texts.map((text) => line('user', said(query(text)))))
const answered = (prompt: string, answer: string): string =>
  lines(line('user', said(query(prompt))), line('assistant', said(answer)))
const write = (file: string, content: string, slug = 'yard-kiln'): string => writeTranscript(home, slug, file, content)

test('every format is mirrored, with the root of its project', () => {
  for (const era of transcriptEras) era.write(home)
  pass('reconcile')
  const eras = transcriptEras.flatMap((era) => (era.chatId === null ? [] : [{ ...era, chatId: era.chatId }]))
  for (const { chatId, messages, rootUri } of eras) {
    expect([chatId, textsOf(chatId)]).toEqual([chatId, messages.map(({ text }) => text)])
    expect(heldOf(chatId).map(({ role }) => role)).toEqual(messages.map(({ role }) => role))
    expect([chatId, toolsOf(chatId)]).toEqual([chatId, messages.map(({ tools }) => tools)])
    expect([chatId, rootOf(chatId)]).toEqual([chatId, rootUri])
  }
  expect(chatIds()).toEqual(eras.map(({ chatId }) => chatId).sort())
  expect(issues()).toEqual([])
})

test('a subagent is a chat of its own, started by the chat in whose folder it is', () => {
  eraNested.write(home)
  write('era-nested/subagents/sub.jsonl', chat('a'))
  pass()
  expect(rowsOf('select id, is_subagent, parent_chat_id, format from chats order by id')).toEqual([
    { id: 'era-nested', is_subagent: 0, parent_chat_id: null, format: 'transcript' },
    { id: 'sub', is_subagent: 1, parent_chat_id: 'era-nested', format: 'transcript' },
  ])
})

test('a repeated pass of any depth changes nothing, and does not read unchanged files', () => {
  for (const era of transcriptEras) era.write(home)
  expect(pass().added).toBeGreaterThan(0)
  for (const depth of ['nudge', 'count', 'reconcile'] as const) {
    expect(pass(depth)).toMatchObject({ added: 0, changed: 0, gone: 0, bytesRead: 0 })
  }
  const full = pass('full')
  expect(full).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(full.bytesRead).toBeGreaterThan(0)
})

test('new lines of a transcript are added, and its messages stay the same', () => {
  write('a/a.jsonl', chat('one'))
  write('b.jsonl', chat('other'))
  pass()
  const [before] = rowsOf<{ id: string }>(
    `select messages.id from messages join chats on chats.num = chat where chats.id = 'a'`,
  )
  const path = write('a/a.jsonl', chat('one', 'two'))
  expect(pass()).toMatchObject({ added: 1, changed: 0, gone: 0, bytesRead: statSync(path).size })
  expect(textsOf('a')).toEqual(['one', 'two'])
  expect(rowsOf('select messages.id from messages where position = 0 and id = ?', before?.id ?? '')).toHaveLength(1)
})

test('a rebuilt mirror has everything again', () => {
  eraFlat.write(home)
  pass()
  mirror.close()
  rmSync(join(folder, 'mirror.db'))
  mirror = openWriter(join(folder, 'mirror.db'))
  expect(pass().added).toBe(3)
})

test('a chat in two files of a folder is one chat, from the more complete file', () => {
  write('a.txt', `user:\n${query('one')}\n\nassistant:\ntwo\n`)
  write('a/a.jsonl', chat('one'))
  pass()
  expect([chatIds(), textsOf('a')]).toEqual([['a'], ['one', 'two']])
  write('a/a.jsonl', chat('uno', 'due', 'tre'))
  pass()
  expect([chatIds(), textsOf('a')]).toEqual([['a'], ['uno', 'due', 'tre']])
  rmSync(join(home, 'projects/yard-kiln/agent-transcripts/a'), { recursive: true })
  pass()
  expect([chatIds(), textsOf('a')]).toEqual([['a'], ['one', 'two']])
})

describe('of a chat in several formats', () => {
  const listed = (...texts: readonly string[]): string =>
    JSON.stringify(texts.map((text, at) => (at % 2 === 0 ? { role: 'user', text } : { role: 'assistant', text })))
  const quoted = 'user:\nb\n\nassistant:\nc'
  const old = `user:\n${query('one')}\n\nassistant:\ntwo\n[Tool call] T\n  x=a\n\n${quoted}\n\n`

  test.each([
    ['the list, if the text only seems to have more', { 'a.txt': old, 'a.json': listed('one', 'zwei') }, 'zwei'],
    [
      'the text, if it has a later prompt',
      { 'a.txt': `${old}user:\n${query('d')}\n`, 'a.json': listed('one', 'zwei') },
      'two',
    ],
    ['the text, if only it has the answer', { 'a.txt': old, 'a.json': listed('one') }, 'two'],
    ['the text, while the list is torn', { 'a.txt': old, 'a.json': listed('one', 'zwei').slice(0, -4) }, 'two'],
    ['the lines, if both have the same', { 'a.json': listed('one', 'zwei'), 'a.jsonl': answered('one', 'due') }, 'due'],
    [
      'the list, if it has more than the lines',
      { 'a.json': listed('one', 'zwei', '3'), 'a.jsonl': answered('one', 'due') },
      'zwei',
    ],
    ['the list in its own folder', { 'a.json': listed('one', 'zwei'), 'a/a.json': listed('one', 'due') }, 'due'],
  ])('messages come from %s', (_, files, second) => {
    for (const [file, content] of Object.entries(files)) write(file, content)
    pass()
    expect([chatIds(), textsOf('a')[1]]).toEqual([['a'], second])
    expect(pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })

  test('the messages stay the same if another format with as many takes over', () => {
    write('a.txt', `user:\n${query('one')}\n\nassistant:\ntwo\n`)
    pass()
    write('a.json', listed('one', 'two'))
    expect(pass()).toMatchObject({ added: 0, gone: 0 })
  })

  const lost = (): unknown[] => rowsOf('select message_id from losses')
  const withAction = `user:\n${query('one')}\n\nassistant:\ntwo\n\nassistant:\nyes\n\nuser:\n${query('three')}\n`

  test('the change to another format causes no loss and no orphan', () => {
    write('a.txt', withAction)
    pass()
    write('a.json', listed('one', 'two', 'three', '4', 'five'))
    pass()
    expect([textsOf('a'), lost()]).toEqual([['one', 'two', 'three', '4', 'five'], []])
    expect(pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })

  test('messages of a torn file stay, and no other format replaces it', () => {
    write('a.txt', withAction)
    write('a.json', listed('one', 'two', 'three', '4', 'five'))
    pass()
    write('a.json', listed('one', 'two', 'three', '4', 'five').slice(0, -4))
    pass()
    expect([textsOf('a'), lost()]).toEqual([['one', 'two', 'three', '4', 'five'], []])
    write('a.json', listed('one', 'two', 'three', '4'))
    pass()
    expect([textsOf('a').slice(0, 4), lost()]).toEqual([['one', 'two', 'three', '4'], [expect.anything()]])
  })
})

test('a chat under an empty window and under its project is one chat of that project', () => {
  write('a/a.jsonl', chat('one'), 'empty-window')
  write('a/a.jsonl', chat('one'))
  trust(home, 'yard-kiln', '/yard/kiln')
  pass()
  expect([chatIds(), textsOf('a'), rootOf('a')]).toEqual([['a'], ['one'], 'file:///yard/kiln'])
})

describe('a root', () => {
  test('that becomes known later counts for files read before', () => {
    write('a.jsonl', chat('one'))
    pass()
    expect(rootOf('a')).toBeNull()
    trust(home, 'yard-kiln', '/yard/kiln')
    pass()
    expect(rootOf('a')).toBe('file:///yard/kiln')
  })

  test.each(['{', '[]', '{"workspacePath":7}', ''])('is unknown if the file says %s', (trustJson) => {
    write('a.jsonl', chat('one'))
    writeFileSync(join(home, 'projects', 'yard-kiln', '.workspace-trusted'), trustJson)
    expect(pass().ends).toMatchObject([{ state: 'ok' }])
    expect(rootOf('a')).toBeNull()
  })

  // On Windows the path of the temporary folder contains a drive and a shortened name.
  test.skipIf(process.platform === 'win32')('is found on the disk where the name can be one folder only', () => {
    const root = join(folder, 'my shop')
    mkdirSync(root)
    const slug = root.slice(1).replace(/[^a-z0-9]+/gi, '-')
    write('a.jsonl', chat('one'), slug)
    pass()
    expect(rootOf('a')).toBe(`file://${root.replace(' ', '%20')}`)
    mkdirSync(join(folder, 'my-shop'))
    write('b.jsonl', chat('one'), slug)
    pass()
    expect(rootOf('b')).toBeNull()
  })
})

describe('a file', () => {
  test('that is emptied to be rewritten leaves its chat unchanged', () => {
    const path = write('a.jsonl', chat('one', 'two'))
    pass()
    truncateSync(path)
    expect(pass()).toMatchObject({ gone: 0 })
    expect([textsOf('a'), issues()]).toEqual([['one', 'two'], [{ key: 'a.jsonl', reason: 'null-value' }]])
    write('a.jsonl', chat('one', 'two', 'three'))
    expect(pass()).toMatchObject({ added: 1, changed: 0, gone: 0 })
    expect(issues()).toEqual([])
  })

  test('that was deleted keeps its chat, marked as deleted', () => {
    rmSync(write('a.jsonl', chat('one')))
    const path = write('b.jsonl', chat('one'))
    pass()
    rmSync(path)
    expect(pass()).toMatchObject({ gone: 1 })
    expect(rowsOf('select id, is_live from chats')).toEqual([{ id: 'b', is_live: 0 }])
  })

  test('that is too large is an issue, and what was read of it stays', () => {
    const path = write('a.jsonl', chat('one'))
    pass()
    truncateSync(path, 33 * 1024 * 1024)
    expect(pass()).toMatchObject({ gone: 0, bytesRead: 0 })
    expect([textsOf('a'), issues()]).toEqual([['one'], [{ key: 'a.jsonl', reason: 'too-large' }]])
  })

  test('with an unreadable line is an issue, and the rest is read', () => {
    write('a.jsonl', `${chat('one')}{\n${chat('two')}`)
    pass()
    expect([textsOf('a'), issues()]).toEqual([['one', 'two'], [{ key: 'a.jsonl', reason: 'bad-json' }]])
  })

  test('that is rewritten with the same size is recognised by its time', () => {
    const path = write('a.jsonl', chat('one'))
    pass()
    writeFileSync(path, chat('two'))
    utimesSync(path, 1, 2)
    pass()
    expect(textsOf('a')).toEqual(['two'])
  })

  test.each([
    'a.md',
    'a.jsonl.bak',
    'a/b.json',
    'a/subagents.txt',
    'a/b.jsonl',
    'a/x/a.jsonl',
    'a/subagents/b/b.jsonl',
    '.jsonl',
  ])('called %s is no transcript', (file) => {
    write(file, chat('one'))
    expect(pass().ends).toMatchObject([{ state: 'ok' }])
    expect(chatIds()).toEqual([])
  })
})

// Windows lets few users make links, and has no such permissions; root may read everything.
describe.skipIf(process.platform === 'win32')('what is not to be read', () => {
  test('a link to a file or a folder is skipped', () => {
    const outside = join(folder, 'outside')
    mkdirSync(join(outside, 'b'), { recursive: true })
    writeFileSync(join(outside, 'a.jsonl'), chat('one'))
    writeFileSync(join(outside, 'b', 'b.jsonl'), chat('one'))
    const transcripts = dirname(write('c.jsonl', chat('one')))
    symlinkSync(join(outside, 'a.jsonl'), join(transcripts, 'a.jsonl'))
    symlinkSync(join(outside, 'b'), join(transcripts, 'b'))
    symlinkSync(join(home, 'projects', 'yard-kiln'), join(home, 'projects', 'link'))
    mkdirSync(join(home, 'projects', 'other'))
    symlinkSync(outside, join(home, 'projects', 'other', 'agent-transcripts'))
    pass()
    expect([transcriptSources(home).length, chatIds()]).toEqual([1, ['c']])
  })

  // Only root can give a file to another user.
  test.skipIf(process.getuid?.() !== 0)('a file of another user is an issue', () => {
    chownSync(write('a.jsonl', chat('one')), 65_534, 65_534)
    pass()
    expect([chatIds(), issues()]).toEqual([[], [{ key: 'a.jsonl', reason: 'unreadable-page' }]])
  })

  test.skipIf(process.getuid?.() === 0)('an unreadable file is an issue, and is read once it is readable', () => {
    const path = write('a.jsonl', chat('one'))
    write('b.jsonl', chat('one'))
    chmodSync(path, 0)
    pass()
    expect([chatIds(), issues()]).toEqual([['b'], [{ key: 'a.jsonl', reason: 'unreadable-page' }]])
    chmodSync(path, 0o600)
    pass()
    expect([chatIds(), issues()]).toEqual([['a', 'b'], []])
  })

  test.skipIf(process.getuid?.() === 0)('an unreadable folder leaves everything unchanged', () => {
    const path = write('a/a.jsonl', chat('one'))
    pass()
    chmodSync(dirname(path), 0)
    try {
      expect(pass('reconcile')).toMatchObject({ gone: 0, ends: [{ state: 'unreadable' }] })
      expect(textsOf('a')).toEqual(['one'])
    } finally {
      chmodSync(dirname(path), 0o700)
    }
  })
})

describe('a source', () => {
  test('exists for every project with transcripts, and for nothing else', () => {
    expect(transcriptSources(home)).toEqual([])
    write('a.jsonl', chat('one'))
    mkdirSync(join(home, 'projects', 'bare'))
    writeFileSync(join(home, 'projects', 'a-file'), '')
    const sources = transcriptSources(home)
    expect(sources.map(({ kind, rank, path }) => ({ kind, rank, path }))).toEqual([
      { kind: 'transcripts', rank: 3, path: join(nursery(home), 'yard-kiln', 'agent-transcripts') },
    ])
    expect(transcriptSources(home).map(({ id }) => id)).toEqual(sources.map(({ id }) => id))
  })

  test('changes its signature with every relevant change', () => {
    const path = write('a/a.jsonl', chat('one'))
    const [source] = transcriptSources(home)
    const seen = [source?.signature()]
    const look = (act: () => void) => {
      act()
      seen.push(source?.signature())
    }
    look(() => writeFileSync(path, chat('two')))
    look(() => write('a/subagents/b.jsonl', chat('one')))
    look(() => renameSync(path, join(dirname(path), '..', 'a.jsonl')))
    look(() => trust(home, 'yard-kiln', '/yard/kiln'))
    look(() => rmSync(join(home, 'projects'), { recursive: true }))
    expect(new Set(seen).size).toBe(6)
    expect(seen.at(-1)).toBeNull()
  })

  test('whose folder is gone is missing, and what was read stays', () => {
    write('a.jsonl', chat('one'))
    pass()
    const sources = transcriptSources(home)
    rmSync(join(home, 'projects'), { recursive: true })
    expect(pass('reconcile', sources)).toMatchObject({ gone: 0, ends: [{ state: 'missing' }] })
    expect(textsOf('a')).toEqual(['one'])
  })
})
