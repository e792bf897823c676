import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome } from '../../helpers/cursor.ts'
import { writeAllEras } from '../../helpers/eras/all-eras.ts'
import { Cursordex, type Ended } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

/**
 * Runs every command with a daemon (jobs in processes, a writer thread) and without one (all inline), each with a data
 * folder of its own and the same Cursor.
 */
const home = new CursorHome()
const root = mkdtempSync(join(tmpdir(), 'cursordex-forms-'))
const folders = { daemon: join(root, 'with-daemon'), inline: join(root, 'without') }
type Form = keyof typeof folders
/** Tokens are not estimated, because only a daemon does that, in the background. */
const config = join(root, 'config.json')
let daemon: Cursordex

const flagsOf = (form: Form): string[] => [
  '--cursor-user-dir',
  home.userDir,
  '--cursor-home',
  join(home.root, '.cursor'),
  '--data-dir',
  folders[form],
  '--port',
  '0',
  '--config',
  config,
]
const run = (form: Form, argv: readonly string[], input?: string): Promise<Ended> =>
  new Cursordex([...argv, ...flagsOf(form)], input === undefined ? {} : { input }).ended

beforeAll(async () => {
  writeFileSync(config, JSON.stringify({ tokens: { estimate: false } }))
  writeAllEras(home, join(home.root, '.cursor'))
  daemon = new Cursordex(['serve', ...flagsOf('daemon')])
  await daemon.listening()
  await waitUntil(
    'the daemon to be ready',
    async () => {
      const { stdout } = await run('daemon', ['status', '--json'])
      return (JSON.parse(stdout) as { state: string }).state === 'ready'
    },
    { withinMs: 100_000, everyMs: 500 },
  )
  await run('inline', ['sync', '--full'])
}, 120_000)

afterAll(async () => {
  await daemon?.stop()
  home.remove()
  rmSync(root, { recursive: true, force: true })
})

/** Fields that differ: times of this run, resources, sizes of files, lag, and what only a daemon has. */
const volatile =
  /^(tookMs|uptimeMs|startedAt|resources|lagMs|estimation|wasAllRead|mirrorBytes|state|token|daemon|progress|lastReadAt|ftsBytes|lastSyncAt|syncedAt|readAt|seenAt|goneAt|lostAt|notedAt|foundAt|explain|nextRunAt|freshness)$/

/** The text of an answer, with the same name for the folders of both forms. */
function comparable(text: string, form: Form): unknown {
  const alike = text
    .replaceAll(folders[form], '/data')
    .replaceAll(home.root, '/home')
    .replaceAll(/\d{8}T\d{6}Z(-\d+)?/g, 'RUN')
  return JSON.parse(alike, function (this: { path?: unknown }, key, value: unknown) {
    const isSize = key === 'bytes' && this.path !== undefined
    return isSize || volatile.test(key) ? undefined : value
  }) as unknown
}

async function bothForms(
  argv: readonly string[],
  input?: string,
): Promise<{ exitCode: number | null; answer: unknown }[]> {
  const forms: Form[] = ['daemon', 'inline']
  const ended = await Promise.all(forms.map((form) => run(form, argv, input)))
  return ended.map(({ exitCode, stdout, stderr }, at) => {
    if (stdout === '') throw new Error(`${argv.join(' ')}: ${stderr}`)
    return { exitCode, answer: comparable(stdout, forms[at] ?? 'daemon') }
  })
}

async function expectAlike(argv: readonly string[]): Promise<unknown> {
  const [withDaemon, without] = await bothForms(argv)
  expect(without).toEqual(withDaemon)
  return withDaemon?.answer
}

const idOf = async (): Promise<string> => {
  const { stdout } = await run('daemon', ['chats', '--json', '--sort', 'messages'])
  const { items } = JSON.parse(stdout) as { items: { id: string }[] }
  return items[0]?.id ?? ''
}

test.each(
  [
    ['search', 'chat'],
    ['search', 'how did we read the file of the chat'],
    ['search', 'text', '--sort', 'newest', '--group', 'chat'],
    ['search', 'in:tool file', '--limit', '5'],
    ['search', 'zzzzqq'],
    ['search', '"a chat" OR tab*', '--role', 'user'],
    ['chats'],
    ['chats', '--sort', 'oldest', '--include-empty', '--subagents'],
    ['projects'],
    ['stats', '--tz', 'UTC'],
    ['stats', '--tz', 'UTC', '--bucket', 'month'],
    ['tokens', '--tz', 'UTC', '--group-by', 'model'],
    ['losses'],
    ['status'],
    ['archive', 'list'],
  ].map((argv) => [argv.join(' '), argv] as const),
)('"%s" answers the same with a daemon and without', async (_, argv) => {
  const [withDaemon, without] = await bothForms([...argv, '--json'])
  expect(without).toEqual(withDaemon)
})

test('a chat is shown and exported the same', async () => {
  const id = await idOf()
  await expectAlike(['show', id, '--json'])
  for (const as of ['markdown', 'html', 'json']) {
    const [one, other] = await Promise.all(
      (['daemon', 'inline'] as const).map((form) => run(form, ['export', id, '--as', as])),
    )
    expect(one?.stdout.length).toBeGreaterThan(100)
    const timeless = (ended: Ended | undefined) => ended?.stdout.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'NOW')
    expect(timeless(other)).toBe(timeless(one))
  }
})

test('the doctor finds the same in Cursor and in the mirror', async () => {
  const answer = (await expectAlike(['doctor', '--json'])) as { stores?: unknown[] }
  expect(JSON.stringify(answer).length).toBeGreaterThan(500)
})

test('a usage file is imported the same', async () => {
  const file = join(root, 'usage.csv')
  writeFileSync(
    file,
    'Date,Kind,Model,Max Mode,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,Total Tokens,Cost\n' +
      '"2025-11-04T10:00:00.000Z","Included","claude-4.5-sonnet","No","10","20","30","40","100","0.05"\n',
  )
  const answer = await expectAlike(['tokens', 'import', file, '--tz', 'UTC', '--json'])
  expect(answer).toMatchObject({ rows: 1, already: 0 })
  await expectAlike(['tokens', '--tz', 'UTC', '--group-by', 'day', '--json'])
})

test('an archive is made, listed, verified and restored the same', async () => {
  // Names and hashes depend on the time of the run.
  const timeless = (answer: unknown): unknown =>
    JSON.parse(JSON.stringify(answer).replaceAll(/\d{8}T\d{6}Z(-\d+)?/g, 'RUN'), (key, value: unknown) =>
      /^(createdAt|provenAt|sha256|bytes|name)$/.test(key) ? undefined : value,
    )
  for (const argv of [['run'], ['list'], ['verify'], ['restore']]) {
    const [withDaemon, without] = await bothForms(['archive', ...argv, '--json'])
    expect([argv, without?.exitCode, timeless(without?.answer)]).toEqual([argv, 0, timeless(withDaemon?.answer)])
  }
})

test.each(['chat', 'text'])('a purge of a %s plans and removes the same', async (what) => {
  const id = await idOf()
  const text = 'Answered by both'
  const [named, input] = what === 'chat' ? [['--chat', id], undefined] : [['--match'], text]
  for (const yes of [[], ['--yes']]) {
    const [withDaemon, without] = await bothForms(['purge', ...named, ...yes, '--json'], input)
    expect([without?.exitCode, without?.answer]).toEqual([0, withDaemon?.answer])
    expect(without?.answer).toMatchObject({ dryRun: yes.length === 0 })
    const found = what === 'chat' || yes.length === 0 ? null : []
    expect(without?.answer).toMatchObject({ found, unread: [] })
  }
  const [withDaemon, without] = await bothForms(['chats', '--json'])
  expect(without).toEqual(withDaemon)
})
