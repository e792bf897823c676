import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { casesBeside } from '../helpers/cases.ts'
import { headers, type Store } from '../helpers/cursor.ts'
import { World } from '../helpers/world.ts'

const T0 = Date.parse('2025-03-01T10:00:00Z')
const cases = casesBeside(import.meta.url)

interface Counts {
  readonly input: number | null
  readonly output: number | null
}

interface Ledger {
  readonly rows: readonly { readonly key: string | null; readonly recorded: Counts | null }[]
  readonly totals: { readonly recorded: Counts | null }
  readonly coverage: object
  readonly notes: readonly string[]
}

const told = (counts: Counts | null | undefined): string => `${counts?.input ?? 0}/${counts?.output ?? 0}`

const sum = (all: readonly string[]): string => {
  const pairs = all.map((one) => one.split('/').map(Number))
  const at = (index: number): number => pairs.reduce((total, pair) => total + (pair[index] ?? 0), 0)
  return `${at(0)}/${at(1)}`
}

const tokenCount = (counts: string): object => {
  const [inputTokens, outputTokens] = counts.split('/').map(Number)
  return { inputTokens, outputTokens }
}

const ledger = (world: World, groupBy: string, more = ''): Promise<Ledger> =>
  world.get<Ledger>(`/api/tokens?groupBy=${groupBy}&tz=UTC&limit=1000${more}`)

/** The recorded sum of a chat, which the ledger and the answer about the chat both tell. */
async function recordedOf(world: World, chat: string): Promise<string> {
  const { rows } = await ledger(world, 'chat')
  const { tokens } = await world.get<{ tokens: Ledger['totals'] }>(`/api/chats/${encodeURIComponent(chat)}`)
  const inLedger = told(rows.find(({ key }) => key === chat)?.recorded)
  expect([chat, told(tokens.recorded)]).toEqual([chat, inLedger])
  return inLedger
}

const unchanged = { added: 0, changed: 0, gone: 0 }

describe('a placeholder, a row without content,', () => {
  let world: World
  let store: Store

  /** `u` is a user's message, `a` an answer, `p` a placeholder, `e` an empty user's message; each with `input/output`. */
  function bubble(chat: string, line: string, at: number) {
    const [id = '', counts = '0/0'] = line.split(' ')
    const text = /^[ua]/.test(id) ? `said ${id}` : ''
    const createdAt = new Date(T0 + at * 1000).toISOString()
    const type = /^[ue]/.test(id) ? 1 : 2
    return { bubbleId: `${chat}-${id}`, type, text, createdAt, tokenCount: tokenCount(counts) }
  }

  type Form = 'rows' | 'rows without a list' | 'in one row' | 'in a map'
  const forms: readonly Form[] = ['rows', 'rows without a list', 'in one row', 'in a map']

  /** @param listed the rows that its list names */
  function put(form: Form, chat: string, all: readonly string[], listed: readonly string[] = all): void {
    const bubbles = all.map((line, at) => bubble(chat, line, at))
    const list = listed.map((line, at) => bubble(chat, line, at)).map(({ bubbleId, type }) => ({ bubbleId, type }))
    if (form.startsWith('rows')) for (const one of bubbles) store.message(chat, one.bubbleId, one)
    if (form === 'rows') store.chat(chat, { createdAt: T0, fullConversationHeadersOnly: list })
    if (form === 'rows without a list') store.chat(chat, { createdAt: T0 })
    if (form === 'in one row') store.chat(chat, { createdAt: T0, conversation: bubbles })
    const conversationMap = Object.fromEntries(bubbles.map((one) => [one.bubbleId, one]))
    if (form === 'in a map') store.chat(chat, { createdAt: T0, conversationMap })
  }

  async function shown(chat: string): Promise<string[]> {
    interface Message {
      readonly id: string
      readonly tokens: (Counts & { readonly source: string }) | null
    }
    const { items } = await world.get<{ items: readonly Message[] }>(`/api/chats/${chat}/messages`)
    // Of a message without a record, an estimate is known.
    return items.map(({ id, tokens }) => {
      const recorded = tokens?.source === 'recorded' ? tokens : null
      return `${id.replace(`${chat}-`, '')} ${told(recorded)}`
    })
  }

  const placeholders = cases<[string, string[], string[]]>('placeholders').flatMap(([name, all, expected], at) =>
    forms.map((form, number) => ({ name, form, all, expected, chat: `c${at}x${number}` })),
  )

  const turns: readonly [name: string, lines: string[], expected: string[]][] = [
    ['the first message after it', ['u1', 'a1', 'e1', 'p1 9/5', 'a2'], ['u1 0/0', 'a1 0/0', 'a2 9/5']],
    ['the last message, if none follows', ['u1', 'a1', 'e1', 'p1 9/5'], ['u1 0/0', 'a1 9/5']],
  ]

  const first = ['u1', 'a1 1/1', 'p1 9/5']
  const rewrite = (chat: string, line: string, more: object = {}): void => {
    const { bubbleId, ...row } = bubble(chat, line, 2)
    store.message(chat, bubbleId, { ...row, ...more })
  }
  /** What Cursor does to a chat whose placeholder was counted, and what the chat shows afterwards. */
  const changes: readonly [name: string, change: (chat: string) => void, expected: string[]][] = [
    ['is rewritten with other counts', (chat) => rewrite(chat, 'p1 20/6'), ['u1 0/0', 'a1 21/7']],
    ['is rewritten without counts', (chat) => rewrite(chat, 'p1'), ['u1 0/0', 'a1 1/1']],
    [
      'becomes a message with its own tokens when it gets a text',
      (chat) => rewrite(chat, 'p1 9/5', { text: 'said after all' }),
      ['u1 0/0', 'a1 1/1', 'p1 9/5'],
    ],
    [
      'moves its tokens when another message is listed before it',
      (chat) => {
        rewrite(chat, 'a2 2/2')
        put('rows', chat, [], ['u1', 'a1', 'a2', 'p1'])
      },
      ['u1 0/0', 'a1 1/1', 'a2 11/7'],
    ],
    [
      'keeps its tokens at a message that is rewritten',
      (chat) => rewrite(chat, 'a1 3/3', { text: 'said anew' }),
      ['u1 0/0', 'a1 12/8'],
    ],
    [
      'outlives the deletion of its message',
      (chat) => store.delete(`bubbleId:${chat}:${chat}-a1`),
      ['u1 0/0', 'a1 10/6'],
    ],
    ['outlives its own deletion', (chat) => store.delete(`bubbleId:${chat}:${chat}-p1`), ['u1 0/0', 'a1 10/6']],
    ['outlives the deletion of the chat', (chat) => store.delete(`composerData:${chat}`), ['u1 0/0', 'a1 10/6']],
    [
      'is not counted twice if its message loses its text and keeps its tokens',
      (chat) => rewrite(chat, 'a1 1/1', { text: '' }),
      ['u1 0/0', 'a1 10/6'],
    ],
  ]
  const chatOf = (at: number): string => `changed${at}`

  beforeAll(async () => {
    world = await World.open()
    store = world.home.global()
    for (const { form, chat, all } of placeholders) put(form, chat, all)
    for (const [at, [, all]] of turns.entries()) put('rows', `turn${at}`, all)
    put('rows', 'unnamed', first, ['u1', 'a1 1/1'])
    for (const at of changes.keys()) put('rows', chatOf(at), first)
    await world.sync()
  })
  afterAll(() => world.remove())

  test.each(placeholders)('$name counts in a chat $form', async ({ chat, expected }) => {
    expect(await shown(chat)).toEqual(expected)
    expect(await recordedOf(world, chat)).toBe(sum(expected.map((line) => line.split(' ')[1] ?? '')))
  })

  test.each(turns)('in a turn without visible messages gives its tokens to %s', async (name, _lines, expected) => {
    expect(await shown(`turn${turns.findIndex(([each]) => each === name)}`)).toEqual(expected)
  })

  test('counts only when its chat names it', async () => {
    expect(await shown('unnamed')).toEqual(['u1 0/0', 'a1 1/1'])
  })

  describe('that changes', () => {
    beforeAll(async () => {
      store = world.home.global()
      for (const [at, [, change]] of changes.entries()) change(chatOf(at))
      await world.sync()
    })

    test.each(changes)('%s', async (name, _change, expected) => {
      const chat = chatOf(changes.findIndex(([each]) => each === name))
      expect(await shown(chat)).toEqual(expected)
      expect(await recordedOf(world, chat)).toBe(sum(expected.map((line) => line.split(' ')[1] ?? '')))
    })

    test('is the same after another pass over every value', async () => {
      expect(await world.post('/api/sync', { full: true })).toMatchObject(unchanged)
    })
  })
})

describe('a chat that was forked', () => {
  interface Plan {
    readonly name: string
    /** The recorded answers of each chat: id, minute, request, `input/output`. A later chat begins a day later. */
    readonly chats: readonly (readonly string[])[]
    readonly counts: readonly string[]
    /** The same, without the first chat. */
    readonly withoutFirst: readonly string[]
  }

  const plans = cases<Plan>('forks').map((plan, number) => ({
    ...plan,
    ids: plan.chats.map((_, at) => `plan${number}chat${at}`),
  }))
  let world: World

  function writeChat(store: Store, plan: (typeof plans)[number], at: number): void {
    const chat = plan.ids[at] ?? ''
    const ids: string[] = []
    for (const [turn, answer] of (plan.chats[at] ?? []).entries()) {
      const [name, minute, request, counts = ''] = answer.split(' ')
      const [question, id] = [`${chat}-q${turn}`, `${plan.ids[0]}-${name}`]
      ids.push(question, id)
      const createdAt = new Date(T0 + Number(minute) * 60_000).toISOString()
      const requestId = request === '-' ? {} : { requestId: `${plan.ids[0]}-${request}` }
      store.message(chat, question, { type: 1, text: 'Asked', createdAt })
      store.message(chat, id, { type: 2, text: 'Answered', createdAt, tokenCount: tokenCount(counts), ...requestId })
    }
    store.chat(chat, { createdAt: T0 + at * 86_400_000, fullConversationHeadersOnly: headers(ids) })
  }

  beforeAll(async () => {
    world = await World.open()
    world.home.workspace(
      'forks',
      { folder: 'file:///yard/forks' },
      plans.flatMap(({ ids }) => ids.slice(1)),
    )
    // A fork is read before the chat that it was copied from.
    for (let at = 3; at >= 0; at -= 1) {
      const store = world.home.global()
      for (const plan of plans) if (at < plan.ids.length) writeChat(store, plan, at)
      await world.sync()
    }
  })
  afterAll(() => world.remove())

  const countsOf = async (within: World, ids: readonly string[]): Promise<string[]> => {
    const counts: string[] = []
    for (const id of ids) counts.push(await recordedOf(within, id))
    return counts
  }

  test.each(plans)('counts once, where it began first: $name', async ({ ids, counts }) => {
    expect(await countsOf(world, ids)).toEqual(counts)
  })

  test('counts once in totals, days and projects, which say so', async () => {
    const once = sum(plans.flatMap(({ counts }) => counts))
    for (const groupBy of ['chat', 'project', 'day', 'month', 'model']) {
      const { rows, totals, coverage, notes } = await ledger(world, groupBy)
      const parts = sum(rows.map(({ recorded }) => told(recorded)))
      expect([groupBy, told(totals.recorded), parts]).toEqual([groupBy, once, once])
      const answers = plans.flatMap(({ chats }) => chats.flat()).length
      expect(coverage).toMatchObject({ messages: answers * 2, recorded: answers })
      expect(notes.join('\n')).toContain('7 recorded messages are copies in a forked chat.')
    }
    // The copies count in no project, also where the first chats are left out.
    const forks = sum(plans.flatMap(({ counts }) => counts.slice(1)))
    expect(told((await ledger(world, 'day', '&project=forks')).totals.recorded)).toBe(forks)
  })

  test('shows the tokens that were recorded for each of its messages', async () => {
    const { items } = await world.get<{ items: unknown[] }>('/api/chats/plan2chat1/messages')
    expect(items[1]).toMatchObject({ tokens: { input: 100, output: 10, source: 'recorded' } })
  })

  test('counts the same in a new mirror, which reads the chats in another order', async () => {
    const again = await World.open({ home: world.home })
    await again.sync()
    for (const { ids, counts } of plans) expect(await countsOf(again, ids)).toEqual(counts)
    await again.close()
  })

  test('still has the tokens when Cursor deletes it; when it is purged, its forks have them', async () => {
    const firsts = plans.flatMap(({ ids }) => ids[0] ?? [])
    const store = world.home.global()
    for (const id of firsts) store.deleteChat(id)
    await world.sync(true)
    expect(await world.get(`/api/chats/${firsts[0]}`)).toMatchObject({ deletedInCursor: true })
    for (const { ids, counts } of plans) expect(await countsOf(world, ids)).toEqual(counts)
    await world.post('/api/purge', { chats: firsts, dryRun: false })
    for (const { ids, withoutFirst } of plans) expect(await countsOf(world, ids.slice(1))).toEqual(withoutFirst)
  })
})

describe('the estimate of a message', () => {
  let world: World
  beforeAll(async () => (world = await World.open()))
  afterAll(() => world.remove())

  async function write(text: string, more: object = {}): Promise<void> {
    const store = world.home.global()
    store.message('c', 'm', { type: 2, text, createdAt: '2026-01-10T10:00:00.000Z', ...more })
    store.chat('c', { fullConversationHeadersOnly: headers(['u', 'm']) })
    await world.sync(true)
  }

  async function estimated(): Promise<Record<string, number>> {
    const { rows } = await world.get<{ rows: { key: string; estimated: { output: number } | null }[] }>(
      '/api/tokens?groupBy=day&tz=UTC',
    )
    return Object.fromEntries(rows.flatMap(({ key, estimated: one }) => (one === null ? [] : [[key, one.output]])))
  }

  test('follows the message: to another day, to another text, and away when Cursor records a count', async () => {
    await write('one')
    expect(await estimated()).toEqual({ '2026-01-10': 1 })
    await write('one', { createdAt: '2026-01-11T10:00:00.000Z' })
    expect(await estimated()).toEqual({ '2026-01-11': 1 })
    await write('one two three', { createdAt: '2026-01-11T10:00:00.000Z' })
    expect(await estimated()).toEqual({ '2026-01-11': 3 })
    await write('one two three', { tokenCount: { inputTokens: 400, outputTokens: 20 } })
    expect(await estimated()).toEqual({})
  })
})
