import type { Part } from '../../src/model/part.ts'
import type { Mirror } from '../../src/mirror/open.ts'

interface Row {
  readonly chat: number
  readonly body: number
  readonly model: string | null
  readonly role: string
  readonly at: number | null
  readonly source: string | null
  readonly calls: number
  readonly isOrphan: number
  readonly input: number | null
  readonly output: number | null
  readonly parts: string
}

const MESSAGES = `
  select chat, body, model, role, created_at as at, created_at_source as source, tool_calls as calls,
    is_orphan as isOrphan, estimated_input as input, estimated_output as output, parts
  from messages not indexed join bodies on bodies.num = body
`
const KEPT = `
  select quarter, chat, model, messages, users, calls, approximate, estimated, input, output from message_sums
`
const KEPT_CALLS = `select body, call, tool, status, path from calls order by body, call, file`
const LIVE = `select source, count(*) from source_rows not indexed where is_live = 1 group by source`

/** Adds up all rows again. @returns a line for each kept sum, and each kept call, that differs */
export function wrongSums(mirror: Mirror): string[] {
  const sums = new Map<string, number[]>()
  const calls: string[] = []
  for (const row of mirror.prepare<[], Row>(MESSAGES).all()) {
    calls.push(...callsIn(row))
    if (row.isOrphan !== 0) continue
    const { chat, model, role, at, source, input, output } = row
    const group = `${at === null ? -1e15 : Math.floor(at / 900_000)} ${chat} ${model ?? ''}`
    const isApproximate = at !== null && (source === 'neighbour' || source === 'chat')
    const counts = [1, Number(role === 'user'), row.calls, Number(isApproximate), Number(input !== null)]
    const more = [...counts, input ?? 0, output ?? 0]
    const before = sums.get(group)
    sums.set(
      group,
      more.map((count, index) => count + (before?.[index] ?? 0)),
    )
  }
  const linesOf = (sql: string, words: string): string[] =>
    mirror
      .prepare<[], (number | string)[]>(sql)
      .raw()
      .all()
      .map((values) => `${words} ${values.join(' ')}`)
  return differing(
    [...[...sums].map(([group, values]) => `sum ${group} ${values.join(' ')}`), ...calls, ...linesOf(LIVE, 'source')],
    [
      ...linesOf(KEPT, 'sum'),
      ...linesOf(KEPT_CALLS, 'call'),
      ...linesOf(`select source, count from live_rows where count <> 0`, 'source'),
    ],
  )
}

function callsIn({ body, parts }: Row): string[] {
  const tools = (JSON.parse(parts) as readonly Part[]).filter((part) => part.kind === 'tool')
  return tools.flatMap(({ name, status, paths }, call) => {
    const files = paths.length === 0 ? [null] : [...new Set(paths)].slice(0, 100)
    return files.map((path) => `call ${body} ${call} ${name} ${status} ${path ?? ''}`)
  })
}

/** The lines that only one of two lists has. */
export function differing(expected: readonly string[], kept: readonly string[]): string[] {
  const [right, held] = [new Set(expected), new Set(kept)]
  return [
    ...expected.filter((line) => !held.has(line)).map((line) => `not kept: ${line}`),
    ...kept.filter((line) => !right.has(line)).map((line) => `kept: ${line}`),
  ]
}
