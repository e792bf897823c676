import { readFileSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renderDoctor, type DoctorReport } from '../../src/cli/commands/doctor.ts'
import { displayWidth } from '../../src/cli/terminal/text.ts'
import { screenOf } from '../../src/cli/terminal/screen.ts'
import { UserError } from '../../src/model/user-error.ts'
import { casesBeside, mapStrings, readJson, writtenOut } from '../helpers/cases.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { World } from '../helpers/world.ts'
import { Paper, run, type Call, type Reply, type Run } from './fake-world.ts'

// What the commands print, against `golden/*.txt`. After a wanted change: UPDATE_GOLDENS=1 npx vitest run
// test/cli/golden.test.ts, and read the difference.

const cases = casesBeside(import.meta.url)

/** The text of a golden file, which is written first if that is asked. */
function goldenOf(name: string, text: string): string {
  const path = new URL(`golden/${name}.txt`, import.meta.url)
  if (process.env['UPDATE_GOLDENS'] === '1') writeFileSync(path, text)
  return readFileSync(path, 'utf8')
}

const section = (title: string, text: string): string => `===== ${title}\n${text.replaceAll('\u001b', '␛')}`

/** Nothing but colours may move the cursor or turn the direction of the text, and a line fits the terminal. */
function disorderIn({ out, err }: Pick<Run, 'out' | 'err'>, columns: number | null): string[] {
  const hasColoursInPipe = columns === null && out.includes('\u001b')
  const lines = stripVTControlCharacters(out + err).split('\n')
  const isWrong = (line: string): boolean =>
    /[^\t\P{Cc}]|\p{Bidi_Control}/u.test(line) || displayWidth(line) > (columns ?? Infinity)
  return hasColoursInPipe ? ['colours in a pipe'] : lines.filter(isWrong)
}

interface Canned {
  readonly argv: readonly string[]
  /** Of the terminal; a pipe by default. */
  readonly columns?: number
  readonly colours?: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly workingDir?: string
  readonly stdin?: string
  /** What the daemon has not read yet. */
  readonly missing?: string
  /** The name of an answer, or an answer, or an error: to each request. */
  readonly answer?: unknown
  /** Fields that are different in the answer. */
  readonly with?: object
  /** Answers to the requests with these paths. */
  readonly answers?: Readonly<Record<string, unknown>>
}

const { answers: named } = writtenOut(
  readJson(import.meta.url, 'golden.cases.json') as { readonly answers: Readonly<Record<string, object>> },
)

function answerOf(given: unknown, more: object = {}): unknown {
  const answer = typeof given === 'string' ? named[given] : given
  if (Array.isArray(answer)) return answer
  return { ...(answer as object), ...more }
}

interface Thrown {
  readonly throws?: { code: string; message: string; hint: string; exitCode?: 1 | 2 }
}

const replyOf =
  ({ answer, answers = {}, with: more }: Canned): Reply =>
  ({ path }) => {
    const given = answers[path] === undefined ? answerOf(answer, more) : answerOf(answers[path])
    const { throws } = given as Thrown
    if (throws === undefined) return given
    const { code, message, hint, exitCode = 1 } = throws
    throw new UserError(code, message, hint, { exitCode })
  }

/** `GET /api/chats?limit=5 {"full":true}` */
const requestText = ({ method, path, query, body }: Call): string =>
  `> ${method} ${path}${query === '' ? '' : `?${query}`}${body === undefined ? '' : ` ${JSON.stringify(body)}`}\n`

const titleOf = ({ argv, columns, colours }: Canned): string => {
  const words = argv.map((word) => (/^[\w./=@:,-]+$/.test(word) ? word : JSON.stringify(word)))
  const terminal = columns === undefined ? '' : `, ${columns} columns${colours === true ? ', colours' : ''}`
  return `${words.join(' ')}${terminal}`
}

async function cannedSection(given: Canned): Promise<string> {
  const { argv, columns = null, colours = false, env = {}, workingDir = '/', stdin, missing = null } = given
  const stdout = new Paper(columns)
  const world = {
    ...(columns === null ? {} : { stdout }),
    env: { LANG: 'en_US.UTF-8', ...(colours ? {} : { NO_COLOR: '1' }), ...env },
    workingDir,
    stdin: Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]),
  }
  const { exitCode, out, err, calls, isClosed } = await run(argv, replyOf(given), world, missing)
  const printed = columns === null ? out : stdout.text
  // JSON is printed with escapes, and a text for a file as it is.
  expect(argv[0] === 'export' ? [] : disorderIn({ out: printed, err }, columns)).toEqual([])
  expect(isClosed).toBe(calls.length > 0)
  const requests = calls.map(requestText).join('')
  const ending = exitCode === 0 ? '' : `exit code ${exitCode}\n`
  return section(titleOf(given), `${requests}${printed}${err === '' ? '' : `----- stderr\n${err}`}${ending}`)
}

test.each(cases<{ readonly name: string; readonly cases: readonly Canned[] }>('canned'))(
  'what is asked and printed for given answers: $name',
  async ({ name, cases: given }) => {
    const sections: string[] = []
    for (const each of writtenOut(given)) sections.push(await cannedSection(each))
    const text = sections.join('\n')
    expect(text).toBe(goldenOf(name, text))
  },
)

const NOW = '2026-02-20T12:00:00.000Z'
const home = new CursorHome()
let world: World

interface Row {
  readonly type: 1 | 2
  readonly text: string
}

interface Chat {
  readonly id: string
  readonly name: string
  readonly day: number
  readonly rows: readonly Row[]
}

const at = (day: number, minute = 0): string =>
  `2026-02-${String(day).padStart(2, '0')}T10:${String(minute).padStart(2, '0')}:00.000Z`
const messageId = (index: number): string => `${String(index + 1).repeat(8)}-1111-4222-8333-444455556666`

function writeChat({ id, name, day, rows }: Chat): void {
  const store = home.global()
  const ids = rows.map((_, index) => messageId(index))
  store.chat(id, {
    name,
    createdAt: Date.parse(at(day)),
    lastUpdatedAt: Date.parse(at(day, rows.length)),
    fullConversationHeadersOnly: ids.map((bubbleId, index) => ({ bubbleId, type: rows[index]?.type })),
    unifiedMode: 'agent',
    modelConfig: { modelName: 'gpt-5' },
  })
  for (const [index, row] of rows.entries()) store.message(id, messageId(index), { createdAt: at(day, index), ...row })
}

beforeAll(async () => {
  const chats = writtenOut(cases<Chat>('chats'))
  const [login, chinese, family] = chats.map(({ id }) => id) as [string, string, string]
  chats.forEach(writeChat)
  home.workspace('w', { folder: 'file:///home/ada/code/店舗-shop' }, [login, chinese])
  world = await World.open({ home, flags: { cursorHome: [] } })
  await world.sync()
  // The second pass notices what Cursor dropped.
  const store = home.global()
  store.delete(`bubbleId:${login}:${messageId(0)}`)
  for (const key of [`composerData:${family}`, ...[0, 1].map((index) => `bubbleId:${family}:${messageId(index)}`)]) {
    store.delete(key)
  }
  await world.sync(true)
})

afterAll(() => world?.remove())

/** Replaces paths, times, sizes and versions that differ between runs. */
function steady<Value>(value: Value): Value {
  const text = JSON.stringify(value)
    .replaceAll(/"(lastSyncAt|lastAt|at)":"[^"]*"/g, `"$1":"${NOW}"`)
    .replaceAll(/"(bytes|ftsBytes)":\d+/g, '"$1":1234567')
    .replaceAll(/"source":"@[^"]*","asOf":"[^"]*"/g, '"source":"a price list","asOf":"2026-01-01"')
    .replaceAll(/"(tookMs|uptimeMs|lagMs)":\d+/g, '"$1":42')
  return mapStrings(JSON.parse(text) as Value, (each) =>
    each
      .replaceAll(home.userDir, '/home/ada/.config/Cursor/User')
      .replaceAll(world.settings.dataDir, '/home/ada/.local/share/cursordex'),
  )
}

async function worldReply({ method, path, query, body }: Call): Promise<unknown> {
  if (method === 'POST') return steady(await world.post(path, body))
  const response = await world.request(`${path}?${query}`)
  if (path.endsWith('/export')) return [await response.text()]
  return steady(await response.json())
}

const views = [80, 120].flatMap((columns) => [true, false].map((hasColours) => ({ columns, hasColours })))
const envOf = (hasColours: boolean) => ({ LANG: 'en_US.UTF-8', ...(hasColours ? {} : { NO_COLOR: '1' }) })
const viewTitle = (columns: number, hasColours: boolean): string => `${columns} columns${hasColours ? ', colours' : ''}`

test.each(cases<{ readonly name: string; readonly argv: readonly string[] }>('world'))(
  'what is printed of a real mirror: $name',
  async ({ name, argv }) => {
    const sections: string[] = []
    for (const { columns, hasColours } of views) {
      const stdout = new Paper(columns)
      const { err } = await run(argv, worldReply, { stdout, env: envOf(hasColours), now: () => Date.parse(NOW) })
      // An exported file is printed as it is.
      expect(disorderIn({ out: name === 'export' ? '' : stdout.text, err }, columns)).toEqual([])
      // What a command waited differs from run to run.
      const printed = stdout.text.replace(/, in [\d,.]+ m?s$/m, ', in 42 ms')
      sections.push(section(viewTitle(columns, hasColours), printed))
      if (err !== '') sections.push(section('stderr', err))
    }
    const text = sections.join('\n')
    expect(text).toBe(goldenOf(name, text))
  },
)

test('what is printed of a real mirror: doctor', async () => {
  const places = ['--data-dir', world.settings.dataDir, '--cursor-user-dir', home.userDir, '--cursor-home', '']
  const report = steady(JSON.parse((await run(['doctor', '--json', ...places])).out) as DoctorReport)
  const sections = views.map(({ columns, hasColours }) => {
    const screen = screenOf(new Paper(columns), envOf(hasColours), () => 'UTC', Date.parse(NOW))
    const out = renderDoctor(report, screen)
    expect(disorderIn({ out, err: '' }, columns)).toEqual([])
    return section(viewTitle(columns, hasColours), out)
  })
  const text = sections.join('\n')
  expect(text).toBe(goldenOf('doctor', text))
})
