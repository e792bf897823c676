import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader } from '../src/mirror/open.ts'
import type { BenchDaemon } from './daemon.ts'
import { benchProjects } from './bench-projects.ts'
import { cpuMs, familyOf } from './processes.ts'
import { searchAgainst } from './search-against.ts'
import { drawQuestions, type Question } from './search-questions.ts'
import { median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/** Questions of each kind in one run. */
const EACH = 8
/** Goals: a multiple of the time of plain FTS5, and milliseconds, by the size of the store. */
const RATIO_MAX = 3
const GOALS = [
  { messagesMin: 250_000, newest: 15, relevance: 60 },
  { messagesMin: 0, newest: 5, relevance: 25 },
] as const

const WITHIN = `cross join messages m on m.key = message_terms.rowid cross join chats c on c.num = m.chat`
const rawStatement = (order: string, isFiltered: boolean): string => `
  select message_terms.rowid from message_terms ${isFiltered ? WITHIN : ''}
  where message_terms match @match ${isFiltered ? 'and c.project = @project' : ''}
  order by ${order} limit 20
`
const sorts = [
  { sort: 'newest', order: 'message_terms.rowid desc' },
  { sort: 'relevance', order: 'rank' },
] as const
type Sort = (typeof sorts)[number]['sort']

interface Times {
  readonly http: readonly number[]
  readonly bare: readonly number[]
  /** CPU milliseconds of all the daemon's processes for one answer. More reliable on a busy machine. */
  readonly cpu: number
}

/** How long a search over HTTP takes, compared with the bare statement on the same mirror and with the goals. */
export async function searchLatency(shop: Workshop): Promise<void> {
  if (shop.otherBin !== null) return searchAgainst(shop)
  const { daemon, store } = await shop.startKept()
  const path = mirrorPath(daemon.dataDir)
  const each = EACH * shop.runs
  const mirror = openReader(path)
  const goal = GOALS.find(({ messagesMin }) => store.shape.messages >= messagesMin) ?? GOALS[1]
  try {
    const empty = await timeEach(
      Array.from({ length: each }, () => null),
      () => daemon.get('/api/health'),
    )
    const emptyMs = median(empty)
    const rows = [['an HTTP call that does nothing', '', '', ...pair(empty), '', '', '', '', '', '']]
    for (const { name, asked } of drawQuestions(path, each)) {
      for (const project of [null, ...benchProjects(mirror)]) {
        for (const { sort, order } of sorts) {
          const statement = mirror.prepare<[object]>(rawStatement(order, project !== null))
          const ask = ({ q }: Question): string =>
            `/api/search?sort=${sort}&q=${encodeURIComponent(q)}${project === null ? '' : `&project=${project.name}`}`
          const bareOf = ({ match }: Question): unknown =>
            statement.all({ match, ...(project === null ? {} : { project: project.num }) })
          const times = await compare(daemon, asked, ask, bareOf)
          rows.push([name, project?.name ?? '', sort, ...figures(times, emptyMs, goal[sort])])
        }
      }
    }
    const head = [
      'search',
      'project',
      'sort',
      'HTTP p50 ms',
      'p95',
      'CPU',
      'FTS5 p50',
      'p95',
      'x FTS5',
      'x (HTTP + FTS5)',
      'goals',
    ]
    shop.say(table(head, rows))
    shop.say(verdicts(rows, goal))
  } finally {
    mirror.close()
  }
}

function figures({ http, bare, cpu }: Times, emptyMs: number, goalMs: number): string[] {
  const ratio = median(http) / median(bare)
  const honest = median(http) / (median(bare) + emptyMs)
  const p95 = percentile(http, 95)
  const reached = [
    ...(p95 <= goalMs ? ['ms'] : []),
    ...(ratio <= RATIO_MAX ? ['x'] : honest <= RATIO_MAX ? ['(x)'] : []),
  ]
  return [...pair(http), short(cpu), ...pair(bare), short(ratio), short(honest), reached.join(' ')]
}

function verdicts(rows: readonly (readonly string[])[], goal: Readonly<Record<Sort, number>>): string {
  const lines = sorts.flatMap(({ sort }) => {
    const asked = rows.filter((row) => row[2] === sort)
    const worded = (mark: string): number =>
      asked.filter((row) => row.at(-1)?.split(' ').includes(mark) === true).length
    const line = (count: number, what: string): string =>
      `${count === asked.length ? 'reached' : 'MISSED '} ${sort}: ${what}, in ${count} of ${asked.length}`
    return [
      line(worded('ms'), `p95 at most ${goal[sort]} ms`),
      line(worded('x'), `p50 at most ${RATIO_MAX} x FTS5`),
      line(worded('x') + worded('(x)'), `p50 at most ${RATIO_MAX} x (an HTTP call that does nothing + FTS5)`),
    ]
  })
  return `\n${lines.join('\n')}`
}

/** Alternates between both, so that they run under the same conditions. */
async function compare(
  daemon: BenchDaemon,
  asked: readonly Question[],
  ask: (question: Question) => string,
  bareOf: (question: Question) => unknown,
): Promise<Times> {
  const bare: number[] = []
  const http: number[] = []
  const spentMs = (): number => familyOf(daemon.pid).reduce((sum, pid) => sum + cpuMs(pid), 0)
  const spentBeforeMs = spentMs()
  for (const question of asked) {
    bare.push(...(await timeEach([question], bareOf)))
    http.push(...(await timeEach([ask(question)], (target) => daemon.get(target))))
  }
  return { http, bare, cpu: (spentMs() - spentBeforeMs) / (2 * asked.length) }
}

const pair = (times: readonly number[]): string[] => [short(median(times)), short(percentile(times, 95))]

/** Each runs twice, and the second run counts. The first brings pages and processes into memory. */
async function timeEach<Item>(items: readonly Item[], act: (item: Item) => unknown): Promise<number[]> {
  const times: number[] = []
  for (const item of items) {
    await act(item)
    const startedAtMs = performance.now()
    await act(item)
    times.push(performance.now() - startedAtMs)
  }
  return times
}
