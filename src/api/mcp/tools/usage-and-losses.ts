import * as z from 'zod'
import { BoundedText } from '../token-budget.ts'
import {
  defineTool,
  fromArgument,
  idText,
  machineArgument,
  nextCall,
  offsetArgument,
  projectArgument,
  quoted,
  quotedLine,
  shortLine,
  shortTime,
  toArgument,
} from './tool.ts'
import type { ListedLoss } from '../../answers/chats.ts'
import type { Page } from '../../answers/common.ts'
import type { TokensAnswer, TokenSources } from '../../answers/tokens.ts'

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
    from: fromArgument,
    to: toArgument,
    group_by: z.enum(['day', 'week', 'month', 'project', 'model', 'chat']).default('month'),
    project: projectArgument,
    machine: machineArgument,
    offset: offsetArgument,
  }),
  async answer(args, source) {
    const { from, to, group_by: groupBy, project, machine, offset } = args
    const isOfTime = ['day', 'week', 'month'].includes(groupBy)
    const limit = isOfTime ? ROWS_ASKED : Math.min(ROWS_ASKED, offset + ROWS_MAX)
    const query = { groupBy, from, to, project, machine, limit }
    const answer = (await source.get('/api/tokens', query)) as TokensAnswer
    const rows = isOfTime ? newestFirst(answer.rows) : answer.rows
    const text = new BoundedText(END_TOKENS)
    text.add(`Total: ${numbersOf(answer.totals)}`)
    const { messages, recorded, estimated, unknown } = answer.coverage
    text.add(`Of ${messages} messages ${recorded} are recorded, ${estimated} estimated, ${unknown} unknown.`)
    const order = isOfTime ? 'the newest first' : 'those with the most messages first'
    if (rows.length > 0) text.add(`${answer.rowsTotal} rows, ${order}, from ${offset + 1}:`)
    let next = offset
    for (const row of rows.slice(offset, offset + ROWS_MAX)) {
      // A date is ours. The name of a project, a model or a chat is not.
      const label = shortLine(row.label, 80)
      if (!text.add(isOfTime ? `- ${label}: ${numbersOf(row)}` : `- ${numbersOf(row)}\n${quoted(label)}`)) break
      next += 1
    }
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
    ...(recorded === null ? [] : [`recorded ${pair(recorded.input, recorded.output)}`]),
    ...(imported === null
      ? []
      : [
          `imported ${pair(imported.input, imported.output)}${imported.cents === null ? '' : `, ${imported.cents} cents`}`,
        ]),
    ...(estimated === null ? [] : [`estimated ${pair(estimated.input, estimated.output)}`]),
    ...(recordedCents === null ? [] : [`recorded cost ${recordedCents} cents`]),
  ]
  return parts.length === 0 ? 'unknown' : parts.join('; ')
}

export const listLosses = defineTool({
  name: 'list_losses',
  title: 'What Cursor dropped',
  description: 'Lists messages and chats that Cursor no longer has. They are kept here and can be read.',
  parameters: z.object({ from: fromArgument, to: toArgument, project: projectArgument, offset: offsetArgument }),
  async answer({ from, to, project, offset }, source) {
    const answer = (await source.get('/api/losses', { from, to, project, offset, limit: 50 })) as Page<ListedLoss>
    const text = new BoundedText(END_TOKENS)
    text.add(
      answer.total === 0 ? 'Cursor dropped nothing that was seen here.' : `${answer.total} losses, latest first:`,
    )
    let shown = 0
    for (const { at, kind, chatId, messageId, title, project: of } of answer.items) {
      const what = messageId === null ? kind : `${kind} ${idText(messageId)}`
      const where = quotedLine(shortLine(title, 80), shortLine(of?.name ?? 'no project', 60))
      const line = `- ${shortTime(at)} | ${what} | chat ${idText(chatId)}\n${where}`
      if (!text.add(line)) break
      shown += 1
    }
    const next = offset + shown
    const more = next < answer.total && shown > 0
    return text.end(...(more ? [nextCall('list_losses', { from, to, project, offset: next })] : []))
  },
})
