import { familyCpuMs, openMirror } from './daemon.ts'
import { drawQuestions, type KindName, type Question } from './questions.ts'
import { median, p50and95, percentile, short, table, timeInTurns, type Workshop } from './workshop.ts'

/** Questions of each kind in one run. */
const EACH = 12
const NEWEST = 'message_terms.rowid desc'
const RELEVANCE = 'rank'
const FACETS = 'project,role,part,tool,model,month'

interface Search {
  readonly name: string
  readonly kind: KindName
  readonly path: string
  /** The same in plain FTS5: its order and a further condition. Undefined if FTS5 has nothing like this. */
  readonly order?: string
  readonly where?: string
}

const bothOrders = (name: string, kind: KindName, filter = '', where = ''): readonly Search[] => [
  { name: `${name}, newest`, kind, path: `/api/search?sort=newest${filter}`, order: NEWEST, where },
  { name: `${name}, relevance`, kind, path: `/api/search?sort=relevance${filter}`, order: RELEVANCE, where },
]

const searches: readonly Search[] = [
  ...bothOrders('rare word (2 to 60 messages)', 'rare'),
  ...bothOrders('middling word (0.4% to 2%)', 'middling'),
  ...bothOrders('common word (over 20%)', 'common'),
  ...bothOrders('common word in prompts', 'common', '&role=user', `and m.role = 'user'`),
  ...bothOrders('two words of one message', 'two'),
  ...bothOrders('phrase of two', 'phrase'),
  ...bothOrders('prefix of two letters', 'prefix2'),
  ...bothOrders('prefix of three', 'prefix3'),
  ...bothOrders('prefix of four', 'prefix4'),
  { name: '*inside* of a word', kind: 'inside', path: '/api/search?sort=relevance' },
  { name: 'common word, by chat', kind: 'common', path: '/api/search?group=chat' },
  { name: 'common word, by chat, six facets', kind: 'common', path: `/api/search?group=chat&facets=${FACETS}` },
  { name: 'middling word, by chat, six facets', kind: 'middling', path: `/api/search?group=chat&facets=${FACETS}` },
  { name: 'a sentence, closest chats', kind: 'sentence', path: '/api/search?', order: RELEVANCE },
  { name: 'suggestions for three letters', kind: 'typed', path: '/api/suggest?' },
  { name: 'suggestions for a misspelt word', kind: 'swapped', path: '/api/suggest?' },
]

/**
 * How long searches take over HTTP, beside the same query in plain FTS5, and beside another program in turns. CPU is that of
 * all processes of this program for one answer, which other load changes less.
 */
export async function searchLatency(shop: Workshop): Promise<void> {
  const rivals = await shop.startRivals()
  const [own] = rivals
  if (own === undefined) return
  const questions = drawQuestions(own.daemon.mirrorPath, EACH * shop.runs)
  const mirror = openMirror(own.daemon.mirrorPath)
  const rows: string[][] = []
  for (const { name, kind, path, order, where = '' } of searches) {
    const floor = order === undefined ? null : mirror.prepare<[object]>(plainSql(order, where))
    const asks = rivals.map(({ daemon }) => ({ q }: Question): unknown => {
      return daemon.get(`${path}&q=${encodeURIComponent(q)}`)
    })
    const spentMs = familyCpuMs(own.daemon.pid)
    const acts = floor === null ? asks : [...asks, ({ match }: Question): unknown => floor.all({ match })]
    const [times = [], ...others] = await timeInTurns(questions[kind], acts)
    const cpuMs = (familyCpuMs(own.daemon.pid) - spentMs) / (2 * times.length)
    const plain = floor === null ? [] : (others.pop() ?? [])
    const rest = others.flatMap((other) => [...p50and95(other), ...ratios(times, other)])
    rows.push([name, ...p50and95(times), short(cpuMs), ...p50and95(plain), ...rest])
  }
  const [nothing = []] = await timeInTurns(questions.rare, [(): unknown => own.daemon.get('/api/health')])
  rows.push(['floor: an HTTP call that does nothing', ...p50and95(nothing)])
  mirror.close()
  const head = ['search', 'p50 ms', 'p95', 'CPU', 'FTS5 p50', 'p95']
  const more = rivals.length === 1 ? [] : ['other p50', 'p95', 'this / other p50', 'p95']
  shop.say(table([...head, ...more], rows))
}

const plainSql = (order: string, where: string): string => `
  select message_terms.rowid from message_terms
  ${where === '' ? '' : 'cross join messages m on m.key = message_terms.rowid'}
  where message_terms match @match ${where} order by ${order} limit 20
`

const ratios = (times: readonly number[], other: readonly number[]): string[] => [
  short(median(times) / median(other)),
  short(percentile(times, 95) / percentile(other, 95)),
]
