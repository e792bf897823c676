import * as z from 'zod'
import {
  BoundedText,
  listed,
  chatEntry,
  defineTool,
  idText,
  nextCall,
  quoted,
  scope,
  scopeOf,
  shortLine,
  shortTime,
} from './tool.ts'
import type { TokensAnswer, TokenSources } from '../answers/tokens.ts'

const END_TOKENS = 300
const ROWS_MAX = 60
/** The most that the route gives. */
const ROWS_ASKED = 10_000

export const getUsage = defineTool({
  name: 'get_usage',
  title: 'Token usage',
  description:
    'Tokens by day, week, month, project, model or chat. Each number has its source: recorded by Cursor, imported from its dashboard, or estimated from the text. Sources are never added together.',
  parameters: z.object({
    group_by: z.enum(['day', 'week', 'month', 'project', 'model', 'chat']).default('month'),
    ...scope,
  }),
  async answer(args, reader) {
    const { group_by: groupBy, offset } = args
    const isOfTime = ['day', 'week', 'month'].includes(groupBy)
    const limit = isOfTime ? ROWS_ASKED : Math.min(ROWS_ASKED, offset + ROWS_MAX)
    const answer = await reader.get('/api/tokens', { query: { ...scopeOf(args), groupBy: [groupBy], limit } })
    const rows = isOfTime ? newestFirst(answer.rows) : answer.rows
    const text = new BoundedText(END_TOKENS)
    text.add(`Total: ${numbersOf(answer.totals)}`)
    const { messages, recorded, estimated, unknown } = answer.coverage
    text.add(`Of ${messages} messages ${recorded} are recorded, ${estimated} estimated, ${unknown} unknown.`)
    const order = isOfTime ? 'the newest first' : 'those with the most messages first'
    if (rows.length > 0) text.add(`${answer.rowsTotal} rows, ${order}, from ${offset + 1}:`)
    const lines = rows.slice(offset, offset + ROWS_MAX).map((row) => {
      // A date is ours. The name of a project, a model or a chat is not.
      const label = shortLine(row.label, 80)
      return isOfTime ? `- ${label}: ${numbersOf(row)}` : `- ${numbersOf(row)}\n${quoted(label)}`
    })
    const next = offset + text.addAll(lines)
    if (next >= answer.rowsTotal) return text.end()
    const range = isOfTime ? `, from ${rows[next]?.label} back to ${rows.at(-1)?.label}` : ', with fewer messages'
    return text.end(
      `${answer.rowsTotal - next} rows are left out${range}.`,
      nextCall('get_usage', { ...args, offset: next }),
    )
  },
})

/** By the first date of each row. The row without a date is the last one. */
const newestFirst = (rows: TokensAnswer['rows']): TokensAnswer['rows'] =>
  rows.toSorted((one, other) => ((one.key ?? '') < (other.key ?? '') ? 1 : -1))

const pair = (input: number | null, output: number | null): string =>
  `${input ?? 'unknown'} in, ${output ?? 'unknown'} out`

function numbersOf({ recorded, imported, estimated, recordedCents }: TokenSources): string {
  const parts = [
    recorded && `recorded ${pair(recorded.input, recorded.output)}`,
    imported &&
      `imported ${pair(imported.input, imported.output)}${imported.cents === null ? '' : `, ${imported.cents} cents`}`,
    estimated && `estimated ${pair(estimated.input, estimated.output)}`,
    recordedCents !== null && `recorded cost ${recordedCents} cents`,
  ]
  return parts.filter(Boolean).join('; ') || 'unknown'
}

export const listLosses = defineTool({
  name: 'list_losses',
  title: 'What Cursor dropped',
  description: 'Lists messages and chats that Cursor no longer has. They are kept here and can be read.',
  parameters: z.object(scope),
  async answer(args, reader) {
    const query = { ...scopeOf(args), offset: args.offset, limit: 50 }
    const { items, total } = await reader.get('/api/losses', { query })
    const head = total === 0 ? 'Cursor dropped nothing that was seen here.' : `${total} losses, latest first:`
    const entries = items.map((loss) => {
      const what = loss.messageId === null ? loss.kind : `${loss.kind} ${idText(loss.messageId)}`
      return chatEntry(`- ${shortTime(loss.at)} | ${what} | chat ${idText(loss.chatId)}`, loss)
    })
    return listed('list_losses', args, { head, entries, total })
  },
})
