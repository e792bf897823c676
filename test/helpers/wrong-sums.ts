import type { Mirror } from '../../src/mirror/open.ts'

interface Row {
  readonly chat: number
  readonly model: string | null
  readonly at: number | null
  readonly input: number | null
  readonly output: number | null
}

const MESSAGES = `
  select chat, model, created_at as at, estimated_input as input, estimated_output as output
  from messages not indexed where is_orphan = 0
`
const KEPT = `select quarter, chat, model, messages, estimated, input, output from token_sums`
const LIVE = `select source, count(*) from source_rows not indexed where is_live = 1 group by source`

/** Adds up all rows again. @returns a line for each kept sum that differs */
export function wrongSums(mirror: Mirror): string[] {
  const sums = new Map<string, number[]>()
  for (const { chat, model, at, input, output } of mirror.prepare<[], Row>(MESSAGES).all()) {
    const group = `${at === null ? -1e15 : Math.floor(at / 900_000)} ${chat} ${model ?? ''}`
    const [messages = 0, estimated = 0, inputs = 0, outputs = 0] = sums.get(group) ?? []
    sums.set(group, [messages + 1, estimated + Number(input !== null), inputs + (input ?? 0), outputs + (output ?? 0)])
  }
  const tokens = [...sums].map(([group, values]) => `tokens ${group}: ${values.join(' ')}`)
  const keptTokens = mirror
    .prepare<[], (number | string)[]>(KEPT)
    .raw()
    .all()
    .map(([quarter, chat, model, ...values]) => `tokens ${quarter} ${chat} ${model}: ${values.join(' ')}`)
  const rowsOf = (sql: string): string[] =>
    mirror
      .prepare<[], number[]>(sql)
      .raw()
      .all()
      .map(([source, count]) => `source ${source}: ${count}`)
  return differences(
    [...tokens, ...rowsOf(LIVE)],
    [...keptTokens, ...rowsOf(`select source, count from live_rows where count <> 0`)],
  )
}

function differences(expected: readonly string[], kept: readonly string[]): string[] {
  const [right, held] = [new Set(expected), new Set(kept)]
  return [
    ...expected.filter((line) => !held.has(line)).map((line) => `not kept: ${line}`),
    ...kept.filter((line) => !right.has(line)).map((line) => `kept: ${line}`),
  ]
}
