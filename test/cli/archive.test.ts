import { describe, expect, test } from 'vitest'
import { deferred } from '../../src/engine/deferred.ts'
import { UserError } from '../../src/model/user-error.ts'
import { errorOfProblem } from '../../src/cli/client/problem.ts'
import { Paper, run, type Call } from './fake-world.ts'

const made = {
  name: '20260201T030000Z-manual-2',
  state: 'verified',
  provenAt: '2026-02-01T03:00:01.000Z',
  chats: 2,
  unlisted: 0,
  messages: 5,
  bytes: 900,
  error: null,
  progress: null,
}
const answering = (more: object) => () => ({ ...made, ...more })

test('a run without one of the chats names that chat and the reason, and exits with 1', async () => {
  const leftOut = [{ id: 'b\u001b[2J', why: 'line 3, parts: Invalid input' }]
  const { exitCode, out, err } = await run(['archive', 'run'], answering({ leftOut }))
  expect([exitCode, out]).toEqual([
    1,
    expect.stringMatching(/current state left out: b.*\(line 3, parts: Invalid input\)/),
  ])
  expect(out).not.toContain('\u001b')
  expect(err).toContain('1 chat left out. All others are archived.')
})

test('archive run notes an unknown project', async () => {
  const known = new URLSearchParams({ project: 'shop' }).toString()
  const answers = ({ path, query }: Call) =>
    path === '/api/chats' ? { total: query.includes(known) ? 3 : 0 } : { ...made, chats: 0, messages: 0 }
  const { exitCode, err } = await run(['archive', 'run', '--project', 'shp', '--project', 'shop'], answers)
  expect([exitCode, err]).toEqual([0, 'No chat has the project "shp". List all with: cursordex projects\n'])
})

test('archive run prints the name of the archive', async () => {
  const { exitCode, out } = await run(['archive', 'run'], answering({ leftOut: [] }))
  expect([exitCode, out]).toEqual([0, expect.stringContaining(`${made.name}: 2 chats, 5 messages`)])
})

test('archive run --json prints the whole HTTP answer, also fields that the text leaves out', async () => {
  const answer = { ...made, createdAt: '2026-02-01T03:00:00.000Z', scope: null, sha256: 'ab', job: null, leftOut: [] }
  const { exitCode, out } = await run(['archive', 'run', '--json'], () => answer)
  expect([exitCode, JSON.parse(out)]).toEqual([0, answer])
})

/** A daemon that archives and restores, and reports the progress of each once. */
function atWork() {
  const restoring = deferred<void>()
  let looks = 0
  return async ({ method, path }: Call) => {
    if (path === '/api/archives') return made
    if (method === 'POST') return restoring.promise.then(() => restored)
    if (path !== '/api/status') return (looks += 1) > 1 ? made : { ...made, state: 'running', progress: halfway }
    setTimeout(() => restoring.resolve(), 50)
    return { archives: { atWork: { act: 'restore', ...halfway } } }
  }
}

const halfway = { done: 1, total: 2 }

test('archive run and restore show their progress on a terminal, in a line that is cleared at the end', async () => {
  for (const act of ['run', 'restore']) {
    const stderr = new Paper(80)
    const { exitCode } = await run(['archive', act], atWork(), { stderr })
    expect([exitCode, stderr.text]).toEqual([0, '\r\u001b[K1 of 2 archived chats\r\u001b[K'])
  }
})

test.each([
  ['one without control sequences', { stderr: new Paper(80), env: { TERM: 'dumb' } }],
  ['a file, with stdout on a terminal', { stderr: new Paper(), stdout: new Paper(80) }],
])('archive run and restore write no control sequences to %s', async (_, world) => {
  const archived = await run(['archive', 'run'], atWork(), world)
  const back = await run(['archive', 'restore'], () => restored, world)
  expect([archived.exitCode, back.exitCode, world.stderr.text]).toEqual([0, 0, ''])
})

test('"archive" alone lists its four subcommands', async () => {
  const { exitCode, out, err } = await run(['archive'])
  expect([exitCode, err]).toEqual([0, ''])
  expect(out.match(/^ {2}(?:run|list|verify|restore) /gm)).toHaveLength(4)
})

test.each([
  [['archive', 'rnu'], 'run'],
  [['tokens', 'imprt', 'x.csv'], 'import'],
])('%j suggests %s', async (argv, meant) => {
  const { exitCode, err, calls } = await run(argv)
  expect({ exitCode, err, calls }).toEqual({
    exitCode: 2,
    err: `Unknown command '${argv[1]}'. Did you mean ${meant}?\n`,
    calls: [],
  })
})

test.each(['abc', '', '0', '1.5', '1e-1', 'Infinity'])(
  'verify --share %j is refused, and the message names the value',
  async (share) => {
    const { exitCode, err, calls } = await run(['archive', 'verify', '--share', share])
    expect([exitCode, calls]).toEqual([2, []])
    expect(err).toContain(`'--share <part>' argument '${share}' is invalid. It must be a number above 0 and at most 1.`)
  },
)

const restored = {
  name: '20260201T030000Z-weekly',
  runs: 3,
  ok: true,
  chats: 2,
  messages: 5,
  added: 5,
  addedChats: 2,
  damaged: [],
  manifest: null,
  unusedMaps: [],
}

test('a restore without a name reports how many archives it read, and which one is damaged', async () => {
  const whole = await run(['archive', 'restore'], () => restored)
  expect([whole.exitCode, whole.out]).toEqual([
    0,
    `${restored.name} and 2 earlier archives: 2 chats, 5 messages; restored 2 chats and 5 messages\n`,
  ])
  const manifest = `${restored.name}: its seal does not match its contents`
  const damaged = await run(['archive', 'restore'], () => ({ ...restored, ok: false, manifest }))
  expect([damaged.exitCode, damaged.err]).toEqual([1, expect.stringContaining(`a manifest is damaged: ${manifest}.`)])
})

test('a restore succeeds even if the daemon does not report its progress', async () => {
  const looked = deferred<void>()
  const answers = async ({ method }: Call) => {
    if (method === 'POST') return looked.promise.then(() => restored)
    looked.resolve()
    throw new UserError('http-503', 'Not now.', 'Try again.')
  }
  const stderr = new Paper(80)
  const { exitCode, out } = await run(['archive', 'restore'], answers, { stderr })
  expect([exitCode, stderr.text, out]).toEqual([0, '', expect.stringContaining('restored 2 chats and 5 messages')])
})

describe('a restore without any archive', () => {
  const detail = 'There is no archive in /d/archives. Name the folder in which the folders runs and objects lie.'
  const refuse = ({ method }: Call) => {
    if (method === 'GET') return { total: 0, offset: 0, items: [] }
    throw errorOfProblem(404, '/api/archives/newest/restore', { code: 'archive-not-found', detail })
  }

  test('says how to make one, and does not mention "newest"', async () => {
    const { exitCode, err } = await run(['archive', 'restore'], refuse)
    expect([exitCode, err]).toEqual([1, 'There is no archive yet.\nMake one with: cursordex archive run\n'])
  })

  test('names the folder of archives if it cannot be read', async () => {
    const unreadable = () => {
      throw new UserError('archive-not-found', '/d/archives cannot be read (EACCES).', 'Make it readable.')
    }
    const { exitCode, err } = await run(['archive', 'restore'], unreadable)
    expect([exitCode, err]).toEqual([1, '/d/archives cannot be read (EACCES).\nMake it readable.\n'])
  })

  test('names the folder of --from, and does not mention other archives', async () => {
    const { exitCode, err } = await run(['archive', 'restore', '--from', '/d/archives'], refuse)
    expect([exitCode, err]).toEqual([1, `${detail}\ncursordex looked in the folder of --from.\n`])
  })
})
