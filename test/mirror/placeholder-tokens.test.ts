import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PassDepth } from '../../src/indexer/source.ts'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { Indexer } from '../helpers/in-process.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'
import { restoreHere } from '../helpers/restored-mirror.ts'
import { TokenWorld } from '../helpers/token-world.ts'

let world: TokenWorld
beforeEach(() => (world = new TokenWorld()))
afterEach(() => world.remove())

/** `u` is a user's message, `a` an answer, `p` a placeholder, `e` an empty user's message; each with `input/output`. */
type Line = string

const T0 = Date.parse('2025-03-01T10:00:00Z')

function bubble(line: Line, at: number): Record<string, unknown> & { bubbleId: string } {
  const [id = '', counts = '0/0'] = line.split(' ')
  const [inputTokens, outputTokens] = counts.split('/').map(Number)
  const type = /^[ue]/.test(id) ? 1 : 2
  const text = /^[ua]/.test(id) ? `said ${id}` : ''
  const createdAt = new Date(T0 + at * 1000).toISOString()
  return { bubbleId: id, type, text, createdAt, tokenCount: { inputTokens, outputTokens } }
}

const headerOf = ({ bubbleId, type }: ReturnType<typeof bubble>): object => ({ bubbleId, type })

type Form = 'rows' | 'rows without a list' | 'in one row' | 'in a map'

/** Writes a chat like Cursor. `listed`: the rows that its list names; all by default. */
function put(form: Form, lines: readonly Line[], listed: readonly Line[] = lines, chat = 'c'): void {
  const bubbles = lines.map(bubble)
  const list = listed.map(bubble).map(headerOf)
  if (form.startsWith('rows')) for (const one of bubbles) world.store.message(chat, one.bubbleId, one)
  if (form === 'rows') world.store.chat(chat, { createdAt: T0, fullConversationHeadersOnly: list })
  if (form === 'rows without a list') world.store.chat(chat, { createdAt: T0 })
  if (form === 'in one row') world.store.chat(chat, { createdAt: T0, conversation: bubbles })
  const conversationMap = Object.fromEntries(bubbles.map((one) => [one.bubbleId, one]))
  if (form === 'in a map') world.store.chat(chat, { createdAt: T0, conversationMap })
}

const LIST = `
select messages.id || ' ' || ifnull(input_tokens, 0) || '/' || ifnull(output_tokens, 0) from messages
join chats on chats.num = chat where chats.id = 'c' and is_orphan = 0 order by position, messages.id
`
const shown = (db = world.indexer.mirror): Line[] => db.prepare<[], Line>(LIST).pluck().all()

async function recorded(): Promise<string | null> {
  const { totals } = await world.told()
  return totals.recorded === null ? null : `${totals.recorded.input ?? 0}/${totals.recorded.output ?? 0}`
}

const TABLES = ['chats', 'messages', 'placeholders', 'lent_tokens', 'chat_digests']
const dump = (): unknown[] => TABLES.map((table) => world.indexer.mirror.prepare(`select * from ${table}`).raw().all())

/** The chat after a pass. Another pass over every value changes nothing. */
function pass(depth: PassDepth = 'reconcile'): Line[] {
  world.indexer.pass(depth)
  const before = dump()
  expect(world.indexer.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(dump()).toEqual(before)
  return shown()
}

const cases: readonly (readonly [string, readonly Line[], readonly Line[]])[] = [
  ['at the end of a turn', ['u1', 'a1', 'p1 9/5', 'u2', 'a2'], ['u1 0/0', 'a1 9/5', 'u2 0/0', 'a2 0/0']],
  ['between two answers', ['u1', 'a1', 'p1 9/5', 'a2 1/1'], ['u1 0/0', 'a1 9/5', 'a2 1/1']],
  ['right after a question', ['u1', 'p1 9/5', 'a1'], ['u1 9/5', 'a1 0/0']],
  ['at the very start', ['p1 9/5', 'u1', 'a1'], ['u1 9/5', 'a1 0/0']],
  ['two in a row', ['u1', 'a1 1/0', 'p1 9/5', 'p2 2/3'], ['u1 0/0', 'a1 12/8']],
  ['one of them with one count', ['u1', 'a1', 'p1 9/0', 'p2 0/3'], ['u1 0/0', 'a1 9/3']],
  ['without counts', ['u1', 'a1 4/4', 'p1'], ['u1 0/0', 'a1 4/4']],
]

describe.each(['rows', 'rows without a list', 'in one row', 'in a map'] as const)('a chat %s', (form) => {
  test.each(cases)('counts the tokens of a placeholder %s', async (_, lines, expected) => {
    put(form, lines)
    expect(pass()).toEqual(expected)
    const sums = expected.map((line) => line.split(' ')[1]?.split('/').map(Number) ?? [])
    const sum = sums.reduce(([a = 0, b = 0], [c = 0, d = 0]) => [a + c, b + d], [0, 0])
    expect(await recorded()).toBe(sum.join('/'))
  })

  test('does not count a placeholder without any message', async () => {
    put(form, ['p1 9/5'])
    expect(pass()).toEqual([])
    expect(await recorded()).toBeNull()
  })
})

test.each([
  ['the first message after it', ['u1', 'a1', 'e1', 'p1 9/5', 'a2'], ['u1 0/0', 'a1 0/0', 'a2 9/5']],
  ['the last message, if none follows', ['u1', 'a1', 'e1', 'p1 9/5'], ['u1 0/0', 'a1 9/5']],
])('the tokens of a turn without visible messages go to %s', (_, lines, expected) => {
  put('rows', lines)
  expect(pass()).toEqual(expected)
})

test('a placeholder counts only when its chat names it', () => {
  put('rows', ['u1', 'a1', 'p1 9/5'], ['u1', 'a1'])
  expect(pass()).toEqual(['u1 0/0', 'a1 0/0'])
  put('rows', [], ['u1', 'a1', 'p1'])
  expect(pass('nudge')).toEqual(['u1 0/0', 'a1 9/5'])
})

describe('a placeholder whose tokens were counted', () => {
  const first = ['u1', 'a1 1/1', 'p1 9/5']
  beforeEach(() => {
    put('rows', first)
    pass()
  })

  test.each(['nudge', 'reconcile', 'full'] as const)('is rewritten with other counts: %s', async (depth) => {
    world.store.message('c', 'p1', bubble('p1 20/6', 2))
    expect(pass(depth)).toEqual(['u1 0/0', 'a1 21/7'])
    expect(await recorded()).toBe('21/7')
  })

  test('is rewritten without counts', () => {
    world.store.message('c', 'p1', bubble('p1', 2))
    expect(pass()).toEqual(['u1 0/0', 'a1 1/1'])
  })

  test('becomes a message with its own tokens when it gets a text', async () => {
    world.store.message('c', 'p1', { ...bubble('p1 9/5', 2), text: 'said after all' })
    expect(pass('nudge')).toEqual(['u1 0/0', 'a1 1/1', 'p1 9/5'])
    expect(await recorded()).toBe('10/6')
  })

  test('moves its tokens when another message is listed before it', () => {
    world.store.message('c', 'a2', bubble('a2 2/2', 1))
    put('rows', [], ['u1', 'a1', 'a2', 'p1'])
    expect(pass('nudge')).toEqual(['u1 0/0', 'a1 1/1', 'a2 11/7'])
  })

  test('keeps its tokens at a message that Cursor rewrites many times', () => {
    for (const counts of ['1/1', '3/3', '0/0']) {
      world.store.message('c', 'a1', { ...bubble(`a1 ${counts}`, 1), text: `again with ${counts}` })
      const [input = 0, output = 0] = counts.split('/').map(Number)
      expect(pass('nudge')).toEqual(['u1 0/0', `a1 ${input + 9}/${output + 5}`])
    }
  })

  test.each([
    ['its message', 'bubbleId:c:a1', ['u1 0/0', 'a1 10/6']],
    ['its own row', 'bubbleId:c:p1', ['u1 0/0', 'a1 10/6']],
    ['the chat', 'composerData:c', ['u1 0/0', 'a1 10/6']],
  ])('outlives the deletion of %s', async (_, key, expected) => {
    world.store.delete(key)
    expect(pass('reconcile')).toEqual(expected)
    expect(await recorded()).toBe('10/6')
  })

  test('is not counted twice if its message loses its text but keeps its tokens', async () => {
    world.store.message('c', 'a1', { ...bubble('a1 1/1', 1), text: '' })
    expect(pass('nudge')).toEqual(['u1 0/0', 'a1 10/6'])
    expect(await recorded()).toBe('10/6')
  })

  test('makes an archive write the chat again', () => {
    const revision = (): unknown => world.indexer.mirror.prepare('select revision from chats').pluck().get()
    const before = Number(revision())
    world.store.message('c', 'p1', bubble('p1 20/6', 2))
    pass()
    expect(Number(revision())).toBeGreaterThan(before)
  })
})

describe('an archived chat with tokens of placeholders', () => {
  let archive: ArchiveFolder
  beforeEach(async () => {
    archive = new ArchiveFolder()
    put('rows', ['u1', 'a1 1/1', 'a2 2/2', 'p1 9/5'])
    pass()
    await archive.run(world.indexer.mirror)
  })
  afterEach(() => archive.remove())

  const all = ['u1 0/0', 'a1 1/1', 'a2 11/7']

  test('has the same token sum in an empty mirror', async () => {
    const empty = new OpenMirror()
    await restoreHere(empty.db, archive.dir)
    expect(shown(empty.db)).toEqual(all)
    empty.remove()
  })

  test.each([
    ['is restored first', true],
    ['is read first', false],
  ])('is not doubled where the store is there too and the archive %s', async (_, isArchiveFirst) => {
    const here = new Indexer(world.home.userDir)
    if (isArchiveFirst) await restoreHere(here.mirror, archive.dir)
    here.pass('reconcile')
    await restoreHere(here.mirror, archive.dir)
    expect(shown(here.mirror)).toEqual(all)
    here.pass('full')
    expect(shown(here.mirror)).toEqual(all)
    here.remove()
  })
  test('does not count them twice if only the archive has the message that shows them', async () => {
    world.store.delete('bubbleId:c:a2')
    const here = new Indexer(world.home.userDir)
    here.pass('reconcile')
    expect(shown(here.mirror)).toEqual(['u1 0/0', 'a1 10/6'])
    await restoreHere(here.mirror, archive.dir)
    expect(shown(here.mirror)).toEqual(all)
    here.pass('full')
    expect(shown(here.mirror)).toEqual(all)
    here.remove()
  })
})
