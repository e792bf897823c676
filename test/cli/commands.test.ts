import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/model/user-error.ts'
import { Paper, type Reply, run } from './fake-world.ts'
import type { Call } from './fake-world.ts'

const asked = (calls: readonly Call[]) => calls.map(({ method, path, query }) => `${method} ${path}?${query}`)

const hit = {
  message: { id: 'm1', chatId: 'c1', position: 3, role: 'user', createdAt: '2026-02-19T20:30:00.000Z' },
  part: 'text',
  chat: { id: 'c1', title: 'The\nchat \u001b[31m' },
  project: { id: 'p1', name: 'shop' },
  snippet: 'a &lt;b&gt; <mark>needle</mark> &#27;[2J',
  score: 1,
}
const found = { query: 'x', total: 1, totalIsExact: true, tookMs: 3, items: [hit], suggestions: [], warnings: [] }

const chat = {
  id: 'c1',
  title: 'Fix\tthe login',
  project: { id: 'p1', name: 'shop' },
  createdAt: '2026-02-19T20:30:00.000Z',
  lastActivityAt: '2026-02-19T21:30:00.000Z',
  model: 'gpt-5',
  messageCount: 1234,
  isArchived: false,
  deletedInCursor: true,
}

const status = {
  state: 'degraded',
  reasons: ['one source is busy'],
  version: '1.2.3',
  uptimeMs: 3_725_000,
  progress: { done: 50, total: 200, bytesPerSecond: 1, etaMs: 2000 },
  sources: [
    {
      id: 's',
      kind: 'transcripts',
      path: '/x',
      state: 'ok',
      detail: null,
      lastSyncAt: '2026-02-19T20:30:00.000Z',
      rows: 1500,
    },
    { id: 't', kind: 'cli-store', path: '/y', state: 'busy', detail: 'locked', lastSyncAt: null, rows: 0 },
  ],
  counts: { projects: 1, chats: 2, messages: 3000, orphans: 0, deleted: 0 },
  issues: { 'bad-json': 2 },
  coverage: { rows: 10, read: 8, orphans: 0, issues: 2, noise: 0 },
  mirror: { path: '/d/mirror.db', bytes: 1_500_000, ftsBytes: 500 },
  resources: {},
  lagMs: 20,
}

const project = {
  id: 'p1',
  name: 'shop',
  path: '/home/a/shop',
  uri: 'file:///home/a/shop',
  remote: null,
  chatCount: 2,
  messageCount: 3000,
  lastActivityAt: null,
}

const synced = { changed: 1200, added: 3, gone: 0, tookMs: 4200 }

const page = (items: readonly unknown[]) => ({ items, total: items.length, limit: 20, offset: 0 })

const verbatim: readonly [argv: readonly string[], answer: unknown][] = [
  [['search', 'x'], { ...found, somethingNew: true }],
  [['chats'], { anything: ['at', 'all'] }],
  [['projects'], [1, null]],
  [['status'], status],
  [['sync'], { ...synced, reasons: [] }],
  [['show', 'c1'], { items: [{ odd: true }], total: 1, limit: 200, offset: 0, more: 'x' }],
]

test.each(verbatim)('%j --json prints the answer unchanged', async (argv, answer) => {
  const { exitCode, out, err } = await run([...argv, '--json'], () => answer)
  expect({ exitCode, out, err }).toEqual({ exitCode: 0, out: `${JSON.stringify(answer, null, 2)}\n`, err: '' })
})

test.each(['chats', 'losses'])('%s notes an unknown project, and only that', async (name) => {
  const reply: Reply = ({ path, query }) =>
    path === '/api/chats' && !query.includes('nope') && query.includes('includeEmpty') ? page([1]) : page([])
  const { exitCode, err } = await run([name, '--project', 'nope', '--project', 'shop'], reply)
  expect(exitCode).toBe(0)
  expect(err).toContain('No chat has the project "nope". List all with: cursordex projects\n')
  expect(err).not.toContain('"shop"')
})

test('a list ends with a note about data that the daemon has not read yet, also if it is empty', async () => {
  const ended = await run(['chats'], () => ({ total: 0, items: [] }), {}, '400 rows are missing here.\u001b[2J')
  expect([ended.exitCode, ended.out, ended.err]).toEqual([0, '', 'No chats.\n400 rows are missing here.\\x1b[2J\n'])
})

test('an unknown chat is reported with a note about data that the daemon has not read yet', async () => {
  const nobody = () => {
    throw new UserError('not-found', 'There is no chat "c".', '')
  }
  const ended = await run(['show', 'c'], nobody, {}, '400 rows are missing here.')
  expect(ended).toMatchObject({ exitCode: 1, isClosed: true })
  expect(ended.err).toMatch(/^400 rows are missing here\.\n.*There is no chat "c"/)
})

test('a partial name of a model or mode, and an unknown project of tokens, are noted as unknown', async () => {
  const none = { messages: 0, recorded: 0, estimated: 0, unknown: 0 }
  const sources = { recorded: null, imported: null, estimated: null, contextSnapshot: null, recordedCents: null }
  const tokens = { rows: [], rowsTotal: 0, imports: null, prices: null, notes: [] }
  const empty = { ...tokens, totals: { ...sources, priced: null, coverage: none } }
  const reply: Reply = ({ path }) => (path === '/api/tokens' ? empty : page([]))
  const chats = await run(['chats', '--model', 'gpt', '--mode', 'age'], reply)
  expect(chats.err).toContain('No chat has the model "gpt". List all with: cursordex tokens --group-by model\n')
  expect(chats.err).toContain('No chat has the mode "age". List all with: cursordex stats\n')
  const ended = await run(['tokens', '--project', 'shp', '--model', 'gpt'], reply)
  expect(ended.err).toContain('No chat has the project "shp". List all with: cursordex projects\n')
  expect(ended.err).toContain('No chat has the model "gpt". List all with: cursordex tokens --group-by model\n')
})

test.each([
  [['chats', '--from', '2026'], 'Asia/Tokyo'],
  [['losses', '--to', '2026'], 'Asia/Tokyo'],
  [['commits', '--repo', 'shop', '--from', '2026'], 'Asia/Tokyo'],
  [['stats', '--tz', 'UTC'], 'UTC'],
  // Without a date the zone is not needed, and finding it takes time.
  [['chats'], null],
  [['search', 'one two'], null],
])('%j sends the time zone %s', async (argv, zone) => {
  const { calls } = await run(argv, () => page([]))
  expect(new URLSearchParams(calls[0]?.query).get('tz')).toBe(zone)
})

test.each([
  [['chats', '--offset', '9']],
  [['losses', '--offset', '9']],
  [['projects', '--offset', '9']],
  [['commits', '--repo', 'shop', '--offset', '9']],
  [['archive', 'list', '--offset', '9']],
  [['search', 'word', '--offset', '9']],
])('%j with a too large offset says how many results there are', async (argv) => {
  const { out, err } = await run(argv, () => ({ ...page([]), total: 8, totalIsExact: true, offset: 9 }))
  expect([out, err]).toEqual(['', 'Nothing at --offset 9. There are 8 results.\n'])
})

test('a search with an incomplete count says "at least"', async () => {
  const answer = { ...page([]), total: 1000, totalIsExact: false, offset: 2000 }
  const { err } = await run(['search', 'word', '--offset', '2000'], () => answer)
  expect(err).toBe('Nothing at --offset 2000. There are at least 1,000 results.\n')
})

describe('search', () => {
  test('sends words and filters to the API, repeated ones several times', async () => {
    const flags = ['--project', 'a', '--project', 'b', '--role', 'user', '--chat', 'c&d', '--from', '2026-01-01']
    const more = ['--to', '2026-02-01', '--tz', 'UTC', '--sort', 'newest', '--limit', '5', '--offset', '10']
    const { calls } = await run(['search', 'role:user', ...flags, 'a "b c"', ...more], () => found)
    const query = new URLSearchParams(calls[0]?.query)
    expect(calls[0]?.path).toBe('/api/search')
    expect([...query].sort(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ['chat', 'c&d'],
      ['from', '2026-01-01'],
      ['limit', '5'],
      ['offset', '10'],
      ['project', 'a'],
      ['project', 'b'],
      ['q', 'role:user a "b c"'],
      ['role', 'user'],
      ['sort', 'newest'],
      ['to', '2026-02-01'],
      ['tz', 'UTC'],
    ])
  })

  test('a thousand results or more are shown as "at least", with the offset of the next page', async () => {
    const many = { ...found, total: 1000, totalIsExact: false, limit: 1 }
    const noteAt = async (offset: number) => (await run(['search', 'x'], () => ({ ...many, offset }))).err
    expect(await noteAt(0)).toBe('1 of at least 1,000. See more with --offset 1\n')
    expect(await noteAt(999)).toBe('1,000 of at least 1,000. See more with --offset 1000\n')
    // No page begins after this offset.
    const deep = { ...many, total: 10_001, offset: 10_000 }
    expect((await run(['search', 'x'], () => deep)).err).toBe('')
    const suggestions = [{ text: 'project', reason: 'without-filter', count: 1000 }]
    const none = { ...found, total: 0, items: [], suggestions }
    expect((await run(['search', 'x', '--project', 'a'], () => none)).err).toContain(
      'Without --project: at least 1,000 results\n',
    )
  })

  test('a suggestion to leave out a filter and a word names the filter as a flag', async () => {
    const noteOf = async (suggestion: object) => {
      const none = {
        ...found,
        total: 0,
        items: [],
        suggestions: [{ reason: 'without-filter', count: 1, ...suggestion }],
      }
      return (await run(['search', 'x'], () => none)).err
    }
    const both = { text: 'chat project project tool:x', query: 'apple', filters: ['chat', 'project'] }
    expect(await noteOf(both)).toContain('Without --chat --project project tool:x: 1 result\n')
    expect(await noteOf({ text: 'tool:x', query: 'apple' })).toContain('Without tool:x: 1 result\n')
    expect(await noteOf({ text: 'from to' })).toContain('Without --from --to: 1 result\n')
  })

  test.each([
    [['-word'], '-word'],
    [['a', '-b', 'c', '--sort', 'oldest'], 'a -b c'],
    [['--', '--flag', '-x'], '--flag -x'],
    [['a', '-b', '--', '--flag'], 'a -b --flag'],
    [[], ''],
  ])('%j searches for %j', async (words, q) => {
    const { exitCode, calls } = await run(['search', ...words], () => found)
    expect(exitCode).toBe(0)
    expect(new URLSearchParams(calls[0]?.query).get('q')).toBe(q)
  })

  test('prints one row for each result, with local time first and without control characters', async () => {
    const { out } = await run(['search', 'x'], () => found)
    expect(out).toBe('2026-02-20 05:30\tshop\tThe chat \\x1b[31m\ta <b> needle \\x1b[2J\tc1\tm1\n')
  })

  const cardsOf = async (items: readonly unknown[], more: object = {}) => {
    const stdout = new Paper(60)
    const { err } = await run(['search', 'x'], () => ({ ...found, items, ...more }), { stdout, env: { NO_COLOR: '1' } })
    return { lines: stdout.text.split('\n'), err }
  }
  const passage = (id: string, chatId: string, snippet: string) => ({
    ...hit,
    message: { ...hit.message, id, chatId },
    chat: { id: chatId, title: `標題 ${'long '.repeat(20)}` },
    snippet,
  })

  test('shows a card for each chat on a terminal: short id, title, project, age, and three passages', async () => {
    const [one, other] = ['0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9', '9b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9']
    const items = ['a', 'b', 'c', 'd'].map((id) => passage(id, one, `passage <mark>${id}</mark>`))
    const wide = { ...passage('e', other, '漢字'.repeat(20)), part: 'tool', toolName: 'read_file' }
    const { lines } = await cardsOf([...items.slice(0, 1), wide, ...items.slice(1)])
    expect(lines).toEqual([
      '0b1f2c3d  標題 long long long long long… · shop · 2 days ago',
      '  user       passage a @a',
      '  user       passage b @b',
      '  user       passage c @c',
      '             and 1 more message',
      '',
      expect.stringMatching(/^9b1f2c3d {2}標題 long .*… · shop · 2 days ago$/),
      `  user       read_file: ${'漢字'.repeat(9)}`,
      `             ${'漢字'.repeat(11)} @e`,
      '',
    ])
  })

  test('the closest chats follow as cards, with the words that they lack', async () => {
    const related = [{ ...hit, matched: ['x'], missing: ['needle', 'hay'] }]
    const { lines } = await cardsOf([], { total: 0, related })
    expect(lines.slice(0, 5)).toEqual([
      'Closest chats, some words missing:',
      '',
      'c1  The chat \\x1b[31m · shop · 2 days ago',
      '  user       a <b> needle \\x1b[2J @m1',
      '             without needle hay',
    ])
  })

  test('hits are marked if colours are on, and control characters of the chat are escaped', async () => {
    const stdout = new Paper(100)
    await run(['search', 'x'], () => found, { stdout })
    expect(stdout.text).toContain('\u001b[1m\u001b[33mneedle\u001b[39m\u001b[22m')
    expect(stdout.text).not.toContain('\u001b[2J')
  })

  test('a search without hits says how many chats were searched, and what to try', async () => {
    const reply: Reply = ({ path }) =>
      path === '/api/chats' ? { ...page([{ ...chat, title: 'x' }]), total: 1234 } : { ...found, total: 0, items: [] }
    const { out, err } = await run(['search', 'x'], reply)
    expect(out).toBe('')
    expect(err).toMatch(/^Nothing found in 1,234 chats, the latest active 2026-02-20 06:30\.\nTry fewer words/)
    const onTerminal = await run(['search', 'x'], reply, { stdout: new Paper(80) })
    expect(onTerminal.err).toMatch(/the latest active 2 days ago\.\n/)
  })

  test('prints warnings and suggestions on stderr if nothing was found', async () => {
    const suggestions = [{ text: 'need\u001ble', reason: 'spelling', count: 2 }]
    const nothing = { ...found, total: 0, items: [], suggestions, warnings: ['No such field: foo'] }
    const { exitCode, out, err } = await run(['search', 'x'], () => nothing)
    expect(exitCode).toBe(0)
    expect(out).toBe('')
    expect(err).toBe('Nothing found in 0 chats.\nNo such field: foo\nDid you mean need\\x1ble? (2 results)\n')
  })

  test('notes that the query was corrected, and suggests other spellings', async () => {
    const warnings = ['Nothing was found for "neddle"; these are the hits for "needle".']
    const suggestions = [
      { text: 'needle', reason: 'spelling', count: 1 },
      { text: 'noodle', reason: 'spelling', count: 3 },
    ]
    const corrected = { ...found, correctedQuery: 'needle', suggestions, warnings }
    const { out, err } = await run(['search', 'neddle'], () => corrected)
    expect(out).toContain('<b> needle')
    expect(err).toBe(`${warnings.join('')}\nDid you mean noodle? (3 results)\n`)
  })

  test('--literal turns off spelling correction', async () => {
    const { calls } = await run(['search', 'neddle', '--literal'], () => found)
    expect(calls[0]?.query).toBe('q=neddle&literal=true')
  })

  test('a missing project or time is shown as a dash', async () => {
    const bare = { ...hit, project: null, message: { ...hit.message, createdAt: null } }
    const { out } = await run(['search', 'x'], () => ({ ...found, items: [bare] }))
    expect(out).toMatch(/^-\t-\tThe chat/)
  })
})

describe('chats', () => {
  test('sends its filters to the API', async () => {
    const filters = ['--project', 'a', '--mode', 'agent', '--mode', 'ask', '--model', 'm', '--archived', '--deleted']
    const more = ['--subagents', '--include-empty', '-q', 'log in', '--sort', 'size', '--limit', '1', '--offset', '0']
    const { calls } = await run(['chats', ...filters, ...more, '--from', '7d', '--to', 'today', '--tz', 'UTC'], () =>
      page([chat]),
    )
    expect(Object.fromEntries(new URLSearchParams(calls[0]?.query))).toEqual({
      project: 'a',
      mode: 'ask',
      model: 'm',
      archived: 'true',
      deleted: 'true',
      subagents: 'true',
      includeEmpty: 'true',
      q: 'log in',
      sort: 'size',
      limit: '1',
      offset: '0',
      from: '7d',
      to: 'today',
      tz: 'UTC',
    })
    expect(new URLSearchParams(calls[0]?.query).getAll('mode')).toEqual(['agent', 'ask'])
  })

  test('prints last activity, project, title, messages and id', async () => {
    const { out } = await run(['chats'], () => page([chat]))
    expect(out).toBe('2026-02-20 06:30\tshop\tFix the login\t1,234\tc1\n')
  })

  test('notes how to see more, also in a pipe', async () => {
    const list = { ...page([chat]), total: 57, offset: 20 }
    const more = '21 of 57. See more with --offset 21\n'
    expect((await run(['chats'], () => list, { stdout: new Paper(80) })).err).toBe(more)
    expect(await run(['chats'], () => list)).toMatchObject({ err: more, out: expect.not.stringContaining('21 of') })
    // A program that passes --limit knows that there may be more.
    expect((await run(['chats', '--limit', '1'], () => list)).err).toBe('')
    expect((await run(['chats', '--json'], () => list)).err).toBe('')
  })
})

test('projects prints last activity, name, counts and path', async () => {
  const remote = { ...project, remote: { kind: 'ssh', host: 'box' } }
  const { out, calls } = await run(['projects', '--limit', '7'], () => page([project, remote]))
  expect(asked(calls)).toEqual(['GET /api/projects?limit=7'])
  expect(out).toBe('-\tshop\t2\t3,000\t/home/a/shop\n-\tshop\t2\t3,000\tssh:box /home/a/shop\n')
})

test('status prints a block and the sources', async () => {
  const { out } = await run(['status'], () => status)
  expect(out).toBe(
    [
      'state      degraded; one source is busy',
      'daemon     version 1.2.3, up for 1 h 2 min',
      'progress   25 %, 50 of 200 rows read, about 2.0 s left',
      'mirrored   1 projects, 2 chats, 0 subagents, 3,000 messages, 0 orphans',
      'deleted    nothing',
      'read       10 rows, 8 read, 0 orphans, 2 issues, 0 noise',
      'issues     2 bad-json',
      'mirror     /d/mirror.db (1.5 MB, index 500 B)',
      'delay      20 ms',
      '',
      'transcripts\tok\t1,500\t2026-02-20 05:30\t/x',
      'cli-store\tbusy: locked\t0\t-\t/y',
      '',
    ].join('\n'),
  )
})

test('on a terminal status sums the sources by kind, and lists what needs attention; --sources lists all', async () => {
  const workspace = { id: 'w', kind: 'workspace-items', path: '/w/1', state: 'ok', detail: null, rows: 2 }
  const sources = [
    ...status.sources,
    { ...workspace, lastSyncAt: '2026-02-22T10:00:00.000Z' },
    { ...workspace, path: '/w/2', lastSyncAt: '2026-02-22T11:00:00.000Z' },
    { ...workspace, path: '/w/3', state: 'missing', lastSyncAt: null, rows: null },
  ]
  const shown = async (...argv: string[]) => {
    const stdout = new Paper(80)
    await run(['status', ...argv], () => ({ ...status, sources }), { stdout, env: { NO_COLOR: '1' } })
    return stdout.text
  }
  const text = await shown()
  expect(text.split('\n').slice(10)).toEqual([
    'source           stores            rows  last read',
    'transcripts      1 ok             1,500  2 days ago',
    'cli-store        1 busy               0  -',
    'workspace-items  2 ok, 1 missing      4  1 hour ago',
    '',
    'Needs attention',
    '- /y: busy: locked',
    '- 2 rows could not be read. "cursordex doctor" shows which.',
    '',
  ])
  expect(text.split('\n').length).toBeLessThan(24)
  expect((await shown('--sources')).match(/^workspace-items .*\/w\/\d$/gm)).toHaveLength(3)
})

test('sync waits for the pass and prints its counts; --full compares every value', async () => {
  const plain = await run(['sync'], () => synced)
  expect(plain.calls).toEqual([{ method: 'POST', path: '/api/sync', query: '', body: {} }])
  expect(plain.out).toBe('3 added, 1,200 changed, 0 deleted, in 4.2 s\n')
  expect((await run(['sync', '--full'], () => synced)).calls[0]?.body).toEqual({ full: true })
})

const messageOf = (id: string, parts: readonly unknown[], more: object = {}) => ({
  id,
  chatId: 'c1',
  position: 0,
  role: 'assistant',
  createdAt: '2026-02-19T20:30:00.000Z',
  model: 'gpt-5',
  parts,
  isOrphan: false,
  deletedInCursor: false,
  ...more,
})

const thread = (messages: readonly unknown[]) => (call: Call) => {
  if (!call.path.endsWith('/messages')) return chat
  const query = new URLSearchParams(call.query)
  const [limit, offset] = [Number(query.get('limit') ?? 20), Number(query.get('offset') ?? 0)]
  return { items: messages.slice(offset, offset + limit), total: messages.length, limit, offset }
}

describe('show', () => {
  test('prints every kind of part, without control characters', async () => {
    const tool = {
      kind: 'tool',
      name: 'edit',
      status: 'completed',
      callId: null,
      input: {},
      error: null,
      paths: ['a.ts', 'b.ts'],
    }
    const parts = [
      { kind: 'text', text: 'one\r\n\u001b]52;c;x\u0007two\n' },
      { kind: 'thinking', text: 'hm\n\nso', durationMs: 3200 },
      { kind: 'thinking', text: 'hm', durationMs: null },
      { kind: 'code', language: 'ts', path: 'a.ts', text: 'let a\nlet b\n' },
      { ...tool, output: { ok: true, text: 'line\nline' } },
      { ...tool, output: 'x'.repeat(5000), paths: [] },
      { ...tool, status: 'error', output: null, error: 'no such\nfile' },
      { ...tool, status: 'running', output: null, paths: [] },
      { kind: 'attachment', path: 'c\u202e.ts', text: 'not shown' },
      {
        kind: 'todo',
        items: [
          { id: null, content: 'a', status: 'completed' },
          { id: null, content: 'b', status: null },
        ],
      },
      { kind: 'error', text: 'broke' },
    ]
    const messages = [
      messageOf('m1', parts),
      messageOf('m2', [], { role: 'user', createdAt: null, model: null, isOrphan: true, deletedInCursor: true }),
    ]
    const { out } = await run(['show', 'c1'], thread(messages))
    const lines = out.split('\n')
    expect(lines.find((line) => line.endsWith('…'))).toMatch(/^\[tool\] edit: completed → x{100,200}…$/)
    expect(lines.filter((line) => !line.endsWith('…')).join('\n')).toBe(
      [
        'Fix the login',
        'shop · 2026-02-20 05:30 to 2026-02-20 06:30 · 1,234 messages · gpt-5 · deleted in Cursor',
        'c1',
        '',
        '── assistant · 2026-02-20 05:30 · gpt-5',
        'one',
        '\\x1b]52;c;x\\x07two',
        '[thinking, 3.2 s]',
        '  hm',
        '',
        '  so',
        '[thinking]',
        '  hm',
        '[code] a.ts · ts',
        '  let a',
        '  let b',
        '[tool] edit: completed · a.ts, b.ts → {"ok":true,"text":"line\\nline"}',
        '[tool] edit: error · a.ts, b.ts → no such file',
        '[tool] edit: running',
        '[attachment] c\\u202e.ts',
        '[x] a',
        '[ ] b',
        '[error] broke',
        '',
        '── user · - · orphan · deleted in Cursor',
        '',
      ].join('\n'),
    )
  })

  const many = Array.from({ length: 450 }, (_, index) =>
    messageOf(`m${index}`, [{ kind: 'text', text: `text ${index}` }]),
  )

  test('prints a long thread completely, 200 messages at a time', async () => {
    const { out, calls } = await run(['show', 'a/b\n'], thread(many))
    expect(asked(calls)).toEqual([
      'GET /api/chats/a%2Fb%0A?',
      'GET /api/chats/a%2Fb%0A/messages?limit=200&offset=0',
      'GET /api/chats/a%2Fb%0A/messages?limit=200&offset=200',
      'GET /api/chats/a%2Fb%0A/messages?limit=200&offset=400',
    ])
    expect(out.match(/^text \d+$/gm)).toEqual(many.map((_, index) => `text ${index}`))
  })

  test('--json prints a long thread as one list', async () => {
    const { out } = await run(['show', 'c1', '--json'], thread(many))
    expect(JSON.parse(out)).toEqual({ items: many, total: 450, limit: 450, offset: 0 })
  })

  test('stops at --limit', async () => {
    const { calls } = await run(['show', 'c1', '--limit', '201', '--orphans', '--json'], thread(many))
    expect(asked(calls)).toEqual([
      'GET /api/chats/c1/messages?includeOrphans=true&limit=200&offset=0',
      'GET /api/chats/c1/messages?includeOrphans=true&limit=1&offset=200',
    ])
  })

  test('--around sends one request', async () => {
    const { calls } = await run(['show', 'c1', '--around', 'm 9', '--limit', '500', '--json'], thread(many))
    expect(asked(calls)).toEqual(['GET /api/chats/c1/messages?around=m+9&limit=200'])
  })

  test('ends if a thread shrinks while it is read', async () => {
    const { exitCode, calls } = await run(['show', 'c1', '--json'], () => ({ items: [], total: 5 }))
    expect(exitCode).toBe(0)
    expect(calls).toHaveLength(1)
  })
})
