import type { RunningDaemon } from './running-daemon.ts'
import { waitUntil } from './wait-until.ts'

type Asker = Pick<RunningDaemon, 'get'>

/** The JSON of each answer, by path. */
export type Answers = Readonly<Record<string, unknown>>

interface Listed {
  readonly items: readonly { readonly id: string }[]
  readonly total: number
}

const groupings = ['day', 'week', 'month', 'project', 'model', 'chat']

/** Words and filters of every kind that match something in the fixtures. */
const queries = [
  'said',
  'told OR answered',
  'first third',
  '"said in the listed chat"',
  'role:user',
  'role:assistant in:text',
  'in:tool tool:list_dir',
  'has:error',
  'has:thinking',
  'has:code',
  'is:orphan',
  'is:subagent',
  'is:archived',
  'after:2025-11-03 before:2026-01-01',
  'mode:agent',
  'model:claude*',
  'in:title chat',
  'kep* -map',
  '*ean*',
  'misspeled wrods',
]

/** All answers of a mirror about its chats, in a form that allows comparing two mirrors. */
export async function askEverything(daemon: Asker): Promise<Answers> {
  await untilCounted(daemon)
  const chats = await daemon.get<Listed>('/api/chats?limit=200&subagents=true&includeEmpty=true')
  if (chats.total > chats.items.length) throw new Error('there are more chats than fit on one page')
  const projects = await daemon.get<Listed>('/api/projects?limit=200')
  const ids = chats.items.map(({ id }) => encodeURIComponent(id))
  const paths = [
    '/api/chats?limit=200',
    '/api/chats?limit=200&subagents=true&includeEmpty=true',
    ...['oldest', 'size', 'messages'].map((sort) => `/api/chats?limit=200&sort=${sort}`),
    '/api/chats?archived=true',
    '/api/chats?q=chat',
    '/api/losses?limit=200',
    '/api/projects?limit=200',
    ...ids.map((id) => `/api/chats/${id}`),
    ...ids.map((id) => `/api/chats/${id}/messages?limit=200&includeOrphans=true`),
    ...queries.flatMap((q) => [
      `/api/search?sort=newest&limit=200&q=${encodeURIComponent(q)}&facets=project,role,part,tool,model,machine,month`,
      `/api/search?q=${encodeURIComponent(q)}&limit=200`,
      `/api/search?q=${encodeURIComponent(q)}&limit=200&group=chat`,
    ]),
    ...['day', 'week', 'month'].map((bucket) => `/api/stats?tz=UTC&bucket=${bucket}`),
    '/api/stats?tz=UTC&from=2025-11-03&to=2025-12-01',
    ...projects.items.map(({ id }) => `/api/projects/${id}/stats?tz=UTC&bucket=month`),
    ...groupings.map((groupBy) => `/api/tokens?tz=UTC&groupBy=${groupBy}`),
    ...projects.items.map(({ id }) => `/api/chats?limit=200&project=${id}`),
  ]
  const answers: Record<string, unknown> = {}
  for (const path of paths) answers[path] = await askWhole(daemon, path)
  return answers
}

/** A list with all its pages: equal keys may fall to either side of the end of a page. */
async function askWhole(daemon: Asker, path: string): Promise<unknown> {
  const answer = await daemon.get<Partial<Listed>>(path)
  if (!path.startsWith('/api/search') || answer.items === undefined) return answer
  const items = [...answer.items]
  while (items.length < (answer.total ?? 0)) {
    const next = await daemon.get<Listed>(`${path}&offset=${items.length}`)
    if (next.items.length === 0) throw new Error(`${path} has fewer items than its total ${answer.total}`)
    items.push(...next.items)
  }
  return { ...answer, items }
}

/** Tool calls of a mirror of an older version are counted in the background. */
function untilCounted(daemon: Asker): Promise<unknown> {
  return waitUntil(
    'the whole mirror',
    async () => {
      const { state } = await daemon.get<{ state: string }>('/api/status')
      return state === 'ready' ? true : null
    },
    { withinMs: 180_000, everyMs: 100 },
  )
}

const isListedOnly = (item: unknown): boolean =>
  typeof item === 'object' && item !== null && 'isListedOnly' in item && item.isListedOnly === true

/** What archives and hubs have of these answers: no chats that only lists of Cursor's name, and no items of a context. */
export function copied(answers: Answers): Answers {
  const paths = Object.entries(answers).filter(([, answer]) => !isListedOnly(answer))
  const listed = new Set(
    Object.values(answers)
      .filter(isListedOnly)
      .map((chat) => (chat as { id: string }).id),
  )
  const isOfListed = (path: string): boolean => [...listed].some((id) => path.includes(encodeURIComponent(id)))
  return Object.fromEntries(
    paths.filter(([path]) => !isOfListed(path)).map(([path, answer]) => [path, copiedPart(answer)]),
  )
}

function copiedPart(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.filter((item) => !isListedOnly(item)).map(copiedPart)
  if (typeof answer !== 'object' || answer === null) return answer
  const parts = Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, copiedPart(value)]))
  if ('limit' in parts && 'used' in parts) delete parts['items']
  const left = 'items' in answer && Array.isArray(answer.items) ? answer.items.filter(isListedOnly).length : 0
  return left === 0 ? parts : { ...parts, total: Number(parts['total']) - left }
}

/** What may differ: members with these names at any place, and further members of certain chats, by id. */
export interface Aside {
  readonly everywhere: readonly string[]
  readonly ofChats?: Readonly<Record<string, readonly string[]>>
}

function without(answer: unknown, aside: Aside): unknown {
  if (Array.isArray(answer)) return answer.map((each) => without(each, aside))
  if (typeof answer !== 'object' || answer === null) return answer
  const id = 'id' in answer ? String(answer.id) : ''
  const names = new Set([...aside.everywhere, ...(aside.ofChats?.[id] ?? [])])
  const left = Object.entries(answer).filter(([name]) => !names.has(name))
  return Object.fromEntries(left.map(([name, value]) => [name, without(value, aside)]))
}

/** Sort keys of each list. The order of items with equal keys has no meaning. */
const orders: Readonly<Record<string, (item: Record<string, unknown>) => unknown>> = {
  '/api/search?sort=newest': ({ message }) => (message as { createdAt: unknown }).createdAt,
  '/api/search?q=': ({ score }) => score,
  '/api/tokens?tz=UTC&groupBy=project': ({ estimated, recorded }) => countOf(estimated) + countOf(recorded),
  '/api/tokens?tz=UTC&groupBy=chat': ({ estimated, recorded }) => countOf(estimated) + countOf(recorded),
  '/api/chats?limit=200&sort=size': ({ sizeBytes }) => sizeBytes,
  '/api/chats?limit=200&sort=messages': ({ messageCount }) => messageCount,
  '/api/chats?': ({ lastActivityAt }) => lastActivityAt,
}

const countOf = (given: unknown): number => (given as { messages: number } | null)?.messages ?? 0

/** The same answer with a normalised list order, and separately the sort keys in the original order. */
function settled(path: string, answer: unknown): unknown {
  const [, orderOf] = Object.entries(orders).find(([start]) => path.startsWith(start)) ?? []
  if (orderOf === undefined || typeof answer !== 'object' || answer === null) return answer
  const list = 'rows' in answer ? 'rows' : 'items'
  const items = (answer as Record<string, Record<string, unknown>[]>)[list] ?? []
  // Projects of one name may be counted alike.
  const facets = 'facets' in answer ? { facets: facetsInOneOrder(answer.facets) } : {}
  return { ...answer, ...facets, order: items.map(orderOf), [list]: inOneOrder(items) }
}

const facetsInOneOrder = (facets: unknown): object =>
  Object.fromEntries(
    Object.entries((facets ?? {}) as Record<string, unknown[]>).map(([name, all]) => [name, inOneOrder(all)]),
  )

function inOneOrder<Item>(items: readonly Item[]): Item[] {
  const texts = items.map((item) => ({ item, text: JSON.stringify(item) }))
  return texts.toSorted((a, b) => (a.text < b.text ? -1 : 1)).map(({ item }) => item)
}

/** Paths with different answers, with a short form of both; empty if all are equal. */
export function differences(before: Answers, after: Answers, aside: Aside): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  const told = (answers: Answers, path: string): unknown => settled(path, without(answers[path], aside))
  return [...paths].flatMap((path) => differing(path, told(before, path), told(after, path)))
}

function differing(where: string, one: unknown, other: unknown): string[] {
  if (JSON.stringify(one) === JSON.stringify(other)) return []
  // A newer message has a slightly higher score, and all messages age during the test. Scores have two decimals.
  if (typeof one === 'number' && typeof other === 'number' && Math.abs(one - other) < 0.011) return []
  const isTree = (given: unknown): given is object => typeof given === 'object' && given !== null
  if (!isTree(one) || !isTree(other)) return [`${where}: ${JSON.stringify(one)} became ${JSON.stringify(other)}`]
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  const found = [...keys].flatMap((key) =>
    differing(`${where} ${key}`, (one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
  )
  const isReordered = Object.keys(one).join() !== Object.keys(other).join()
  return found.length === 0 && isReordered ? [`${where}: in another order`] : found
}
