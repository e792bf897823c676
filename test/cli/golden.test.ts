import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answers } from '../../src/cli/client/answers.ts'
import { engineAnswers } from '../../src/cli/client/engine-answers.ts'
import type { DoctorReport } from '../../src/cli/commands/doctor/doctor-report.ts'
import { renderDoctor } from '../../src/cli/commands/doctor/doctor-text.ts'
import { displayWidth } from '../../src/cli/terminal/display-width.ts'
import { screenOf } from '../../src/cli/terminal/screen.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { mirrorPath } from '../../src/engine/data-folder.ts'
import { giveChat } from '../../src/mirror/machines/write-machines.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { asChatId } from '../../src/model/ids.ts'
import { loadSettings } from '../../src/settings.ts'
import { Paper, run, type Call } from './fake-world.ts'

// After a wanted change: npx vitest run test/cli/golden.test.ts -u, and read the difference.

const NOW = '2026-02-20T12:00:00.000Z'
const LOGIN = '0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'
const CHINESE = '0b1f2c3d-aaaa-4071-8293-a4b5c6d7e8f9'
const FAMILY = '77777777-4e5f-4071-8293-a4b5c6d7e8f9'
const home = new CursorHome()
const dataDir = mkdtempSync(join(tmpdir(), 'cursordex-data-'))
const flags = { dataDir, cursorUserDir: [home.userDir], cursorHome: [] }
const settings = loadSettings({ flags, env: {}, platform: 'linux', homeDir: '/nonexistent' })
let answers: Answers

const at = (day: number, minute = 0): string =>
  `2026-02-${String(day).padStart(2, '0')}T10:${String(minute).padStart(2, '0')}:00.000Z`
const tool = (name: string, params: object, result: object, status = 'completed') => ({
  toolFormerData: {
    tool: 1,
    name,
    status,
    toolCallId: name,
    params: JSON.stringify(params),
    result: JSON.stringify(result),
  },
})

type Row = readonly [type: 1 | 2, text: string, more?: object]

function writeChat(chatId: string, name: string, day: number, rows: readonly Row[]): void {
  const store = home.global()
  const ids = rows.map((_, index) => `${String(index + 1).repeat(8)}-1111-4222-8333-444455556666`)
  const headers = ids.map((bubbleId, index) => ({ bubbleId, type: rows[index]?.[0] }))
  const times = { createdAt: Date.parse(at(day)), lastUpdatedAt: Date.parse(at(day, rows.length)) }
  store.chat(chatId, {
    name,
    ...times,
    fullConversationHeadersOnly: headers,
    unifiedMode: 'agent',
    modelConfig: { modelName: 'gpt-5' },
  })
  for (const [index, [type, text, more = {}]] of rows.entries())
    store.message(chatId, ids[index] ?? '', { type, text, createdAt: at(day, index), ...more })
}

beforeAll(async () => {
  writeChat(LOGIN, 'Fix the login redirect after the session has expired on the second tab', 18, [
    [1, 'The login redirect goes to `/home` and not to the page.\n\nWhy?'],
    [2, '', { thinking: { text: 'The redirect is lost.\nIn the session.' }, thinkingDurationMs: 3200 }],
    [2, '', tool('grep', { pattern: 'redirect' }, { matches: 3 })],
    [
      2,
      '',
      tool(
        'run_terminal_cmd',
        { command: 'npm test -- login' },
        { output: 'FAIL login.test.ts\n  expected /cart, got /home' },
        'error',
      ),
    ],
    [
      2,
      '## Cause\n\nThe **login** guard drops `?next`:\n\n```ts\nredirect(next ?? "/home") // 登录\n```\n\n- one\n- two',
      { tokenCount: { inputTokens: 12_345, outputTokens: 678 } },
    ],
  ])
  writeChat(CHINESE, '用户数据库表的索引 🚀 为什么登录很慢,需要加什么索引才能让查询更快一点', 19, [
    [1, '线上数据库里有重复的号码怎么办? login 👩‍👩‍👧'],
    [2, `${'在 phone 上加索引。'.repeat(12)} login`, { tokenCount: { inputTokens: 900, outputTokens: 80 } }],
  ])
  writeChat(FAMILY, '👩‍👩‍👧 family', 20, [
    [1, 'login'],
    [2, 'Hello'],
  ])
  home.workspace('w', { folder: 'file:///home/ada/code/店舗-shop' }, [LOGIN, CHINESE])
  home.close()
  const context = { version: '1.2.3', zone: () => 'UTC', note: () => {} }
  await (await engineAnswers(settings, context)).close()
  // The second pass notices what Cursor dropped.
  home.global().delete(`bubbleId:${LOGIN}:11111111-1111-4222-8333-444455556666`)
  const ofFamily = ['1', '2'].map((digit) => `bubbleId:${FAMILY}:${digit.repeat(8)}-1111-4222-8333-444455556666`)
  for (const key of [`composerData:${FAMILY}`, ...ofFamily]) home.global().delete(key)
  home.close()
  answers = await engineAnswers(settings, context)
  await answers.post('/api/sync', { full: true })
})

afterAll(async () => {
  await answers.close()
  home.remove()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Replaces paths, times, sizes and versions that differ between runs. */
function steady(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(home.userDir, '/home/ada/.config/Cursor/User')
    .replaceAll(dataDir, '/home/ada/.local/share/cursordex')
    .replaceAll(/"(lastSyncAt|lastAt|at)":"[^"]*"/g, `"$1":"${NOW}"`)
    .replaceAll(/"(bytes|ftsBytes)":\d+/g, '"$1":1234567')
    .replaceAll(/"source":"@[^"]*","asOf":"[^"]*"/g, '"source":"a price list","asOf":"2026-01-01"')
    .replaceAll(/"(tookMs|uptimeMs|lagMs)":\d+/g, '"$1":42')
  return JSON.parse(text)
}

const commit = {
  sha: 'abcdef0123456789abcdef0123456789abcdef01',
  committedAt: at(18, 9),
  subject: 'fix(login): keep the page 🚀 after the session expired, 登录以后回到原来的页面',
}
const evidence = {
  time: { messages: 3 },
  branch: 'same',
  files: { paths: ['a'], when: 'in-window' },
  editedElsewhere: false,
}
const chats = [LOGIN, CHINESE].map((id) => ({
  id,
  title: '用户数据库表的索引 Fix the login',
  confidence: 'high',
  evidence,
}))
const commits = {
  items: [
    { ...commit, chats },
    { ...commit, chats: [] },
  ],
  total: 2,
  warnings: [],
}

async function reply({ method, path, query, body }: Call): Promise<unknown> {
  if (path === '/api/commits') return commits
  if (method === 'POST') return steady(await answers.post(path, body))
  if (!path.endsWith('/export')) return steady(await answers.get(path, new URLSearchParams(query)))
  const pieces: string[] = []
  for await (const piece of answers.text(path, new URLSearchParams(query))) pieces.push(piece)
  return pieces
}

const views = [80, 120].flatMap((columns) => [true, false].map((hasColours) => ({ columns, hasColours })))
const envOf = (hasColours: boolean) => ({ LANG: 'en_US.UTF-8', ...(hasColours ? {} : { NO_COLOR: '1' }) })

const tooWide = (text: string, columns: number): string[] =>
  text.split('\n').filter((line) => displayWidth(stripVTControlCharacters(line)) > columns)

const section = (title: string, text: string): string => `===== ${title}\n${text.replaceAll('\u001b', '␛')}`

test.each([
  ['search', ['search', 'login']],
  ['search-nothing', ['search', 'zzqqxx']],
  ['search-grouped', ['search', 'login', '--group', 'chat', '-n', '2']],
  ['chats', ['chats']],
  ['show', ['show', '0b1f2c3d-4']],
  ['show-full', ['show', CHINESE, '--full', '--around', '@2222']],
  ['show-markdown', ['show', LOGIN, '--as', 'md']],
  ['show-ambiguous', ['show', '0b1f']],
  ['projects', ['projects']],
  ['stats', ['stats']],
  ['stats-compact', ['stats', '--compact']],
  ['tokens', ['tokens']],
  ['tokens-notes', ['tokens', '--group-by', 'chat', '--compact', '--notes']],
  ['losses', ['losses']],
  ['commits', ['commits', '--repo', 'shop']],
  ['export', ['export', CHINESE]],
  ['status', ['status']],
  ['status-sources', ['status', '--sources']],
  ['sync', ['sync']],
  ['help', ['--help']],
  ['help-search', ['search', '--help']],
  ['help-settings', ['help', 'settings']],
])('the output of %s', async (name, argv) => {
  await expect(await outputOf(name, argv)).toMatchFileSnapshot(`golden/${name}.txt`)
})

async function outputOf(name: string, argv: readonly string[]): Promise<string> {
  const sections: string[] = []
  for (const { columns, hasColours } of views) {
    const stdout = new Paper(columns)
    const { err } = await run(argv, reply, { stdout, env: envOf(hasColours), now: () => Date.parse(NOW) })
    // An exported file is printed as it is.
    const laidOut = name === 'export' ? err : stdout.text + err
    expect(tooWide(laidOut, columns)).toEqual([])
    // What a command waited differs from run to run.
    const text = stdout.text.replace(/, in [\d,.]+ m?s$/m, ', in 42 ms')
    sections.push(section(`${columns} columns${hasColours ? ', colours' : ''}`, text))
    if (err !== '') sections.push(section('stderr', err))
  }
  return sections.join('\n')
}

test('the output of doctor', async () => {
  const places = ['--data-dir', dataDir, '--cursor-user-dir', home.userDir, '--cursor-home', '']
  const report = steady(JSON.parse((await run(['doctor', '--json', ...places])).out)) as DoctorReport
  const sections = views.map(({ columns, hasColours }) => {
    const screen = screenOf(new Paper(columns), envOf(hasColours), () => 'UTC', Date.parse(NOW))
    const text = renderDoctor(report, screen, false)
    expect(tooWide(text, columns)).toEqual([])
    return section(`${columns} columns${hasColours ? ', colours' : ''}`, text)
  })
  await expect(sections.join('\n')).toMatchFileSnapshot('golden/doctor.txt')
})

describe('with chats of other machines', () => {
  beforeAll(() => {
    const db = openWriter(mirrorPath(dataDir))
    giveChat(db, asChatId(LOGIN), { uuid: 'u-1', name: 'laptop', user: 'ada' })
    giveChat(db, asChatId(CHINESE), { uuid: 'u-2', name: 'the build server in the cellar', user: 'grace' })
    db.close()
  })

  test.each([
    ['machines-chats', ['chats']],
    ['machines-show', ['show', LOGIN, '-n', '1']],
    ['machines-search', ['search', 'login']],
    ['machines-search-one', ['search', 'login machine:ada/laptop']],
    ['machines-chats-unknown', ['chats', '--machine', 'lapto']],
  ])('the output of %s', async (name, argv) => {
    await expect(await outputOf(name, argv)).toMatchFileSnapshot(`golden/${name}.txt`)
  })
})
