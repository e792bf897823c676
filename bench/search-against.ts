import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader } from '../src/mirror/open.ts'
import type { BenchDaemon } from './daemon.ts'
import { drawQuestions, type Kind, type Question } from './search-questions.ts'
import { median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/** Questions of each shape in one run. */
const EACH = 12
const FACETS = 'project,role,part,tool,model,month'

interface Shape {
  readonly name: string
  readonly asked: readonly Question[]
  /** Parameters besides `q`. */
  readonly parameters: string
  /** The order in plain FTS5, or null if it has nothing like this. */
  readonly raw: 'message_terms.rowid desc' | 'rank' | null
  readonly role?: 'user'
}

type Side = 'raw' | 'other' | 'own'
type Times = Readonly<Record<Side, number[]>>

/**
 * How long searches take over HTTP in this program and in another one, in turns on copies of one mirror, and the same
 * queries in plain FTS5. Figures are medians of the runs.
 */
export async function searchAgainst(shop: Workshop): Promise<void> {
  const { own, other } = await shop.startRivals()
  if (other === null) return
  const path = mirrorPath(own.dataDir)
  const mirror = openReader(path)
  try {
    const rows = []
    for (const shape of shapesOf(drawQuestions(path, EACH))) {
      const runs: Times[] = []
      for (let run = 0; run < shop.runs; run += 1) runs.push(await timeShape(shape, own, other, rawOf(mirror, shape)))
      rows.push(rowOf(shape.name, runs))
    }
    const head = [
      'search',
      'FTS5 p50 ms',
      'p95',
      'other p50',
      'p95',
      'this p50',
      'p95',
      'this / other p50',
      'p95',
      'p95 / FTS5',
    ]
    shop.say(table(head, rows))
  } finally {
    mirror.close()
  }
}

function shapesOf(kinds: readonly Kind[]): readonly Shape[] {
  const of = (start: string): readonly Question[] => kinds.find(({ name }) => name.startsWith(start))?.asked ?? []
  const [common, middling, words, phrases] = [of('common'), of('middling'), of('two'), of('phrase')]
  const prefixes = (letters: number): readonly Question[] =>
    middling.map(({ q }) => ({ q: `${q.slice(0, letters)}*`, match: `"${q.slice(0, letters)}" *` }))
  const newest = { parameters: 'sort=newest', raw: 'message_terms.rowid desc' } as const
  const relevance = { parameters: 'sort=relevance', raw: 'rank' } as const
  return [
    { name: 'newest, rare word', asked: of('rare'), ...newest },
    { name: 'newest, common word', asked: common, ...newest },
    { name: 'relevance, common word', asked: common, ...relevance },
    { name: 'relevance, two words', asked: words, ...relevance },
    { name: 'relevance, phrase', asked: phrases, ...relevance },
    { name: 'relevance, prefix of five', asked: prefixes(5), ...relevance },
    { name: 'relevance, prefix of four', asked: prefixes(4), ...relevance },
    { name: 'relevance, prefix of three', asked: prefixes(3), ...relevance },
    { name: 'relevance, prefix of two', asked: prefixes(2), ...relevance },
    {
      name: 'relevance, *inside*',
      asked: middling.map(({ q }) => ({ q: `*${q.slice(1, 5)}*`, match: '' })),
      ...relevance,
      raw: null,
    },
    { name: 'newest, role', asked: common, ...newest, parameters: 'sort=newest&role=user', role: 'user' },
    { name: 'relevance, role', asked: common, ...relevance, parameters: 'sort=relevance&role=user', role: 'user' },
    { name: 'groups, common word', asked: common, parameters: 'group=chat', raw: null },
    { name: 'groups, six facets, common word', asked: common, parameters: `group=chat&facets=${FACETS}`, raw: null },
    {
      name: 'groups, six facets, middling word',
      asked: middling,
      parameters: `group=chat&facets=${FACETS}`,
      raw: null,
    },
  ]
}

type Raw = ((question: Question) => unknown) | null

function rawOf(mirror: ReturnType<typeof openReader>, { raw, role }: Shape): Raw {
  if (raw === null) return null
  const statement = mirror.prepare<[object]>(`
    select message_terms.rowid from message_terms
    ${role === undefined ? '' : 'cross join messages m on m.key = message_terms.rowid'}
    where message_terms match @match ${role === undefined ? '' : `and m.role = '${role}'`}
    order by ${raw} limit 20
  `)
  return ({ match }) => statement.all({ match })
}

async function timeShape(shape: Shape, own: BenchDaemon, other: BenchDaemon, raw: Raw): Promise<Times> {
  const times: Times = { raw: [], other: [], own: [] }
  const asking = (daemon: BenchDaemon) => (question: Question) =>
    daemon.get(`/api/search?${shape.parameters}&q=${encodeURIComponent(question.q)}`)
  const sides = [
    ...(raw === null ? [] : [['raw', raw] as const]),
    ['other', asking(other)] as const,
    ['own', asking(own)] as const,
  ]
  for (const question of shape.asked) for (const [side, act] of sides) times[side].push(await timeSecond(act, question))
  return times
}

/** The first brings pages and processes into memory. */
async function timeSecond(act: (question: Question) => unknown, question: Question): Promise<number> {
  await act(question)
  const startedAtMs = performance.now()
  await act(question)
  return performance.now() - startedAtMs
}

function rowOf(name: string, runs: readonly Times[]): string[] {
  const figure = (side: Side, share: number): number => median(runs.map((times) => percentile(times[side], share)))
  const both = (side: Side): string[] =>
    runs[0]?.[side].length === 0 ? ['', ''] : [50, 95].map((p) => short(figure(side, p)))
  const ratio = (side: Side, share: number): string =>
    runs[0]?.[side].length === 0 ? '' : short(figure('own', share) / figure(side, share))
  return [
    name,
    ...both('raw'),
    ...both('other'),
    ...both('own'),
    ratio('other', 50),
    ratio('other', 95),
    ratio('raw', 95),
  ]
}
