import * as z from 'zod'
import { BoundedText } from '../token-budget.ts'
import {
  defineTool,
  fromArgument,
  machineArgument,
  nextCall,
  offsetArgument,
  projectArgument,
  shortLine,
  shortTime,
  toArgument,
} from './tool.ts'
import type { ListedLoss } from '../../http/schemas/chats.ts'
import type { Page } from '../../http/schemas/common.ts'
import type { TokensAnswer, TokenSources } from '../../http/schemas/tokens.ts'

const END_TOKENS = 300
const ROWS_MAX = 60

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
  }),
  async answer({ from, to, group_by: groupBy, project, machine }, source) {
    const answer = (await source.get('/api/tokens', { groupBy, from, to, project, machine })) as TokensAnswer
    const text = new BoundedText(END_TOKENS)
    text.add(`Total: ${numbersOf(answer.totals)}`)
    const { messages, recorded, estimated, unknown } = answer.coverage
    text.add(`Of ${messages} messages ${recorded} are recorded, ${estimated} estimated, ${unknown} unknown.`)
    let shown = 0
    for (const row of answer.rows.slice(0, ROWS_MAX)) {
      if (!text.add(`- ${shortLine(row.label, 80)}: ${numbersOf(row)}`)) break
      shown += 1
    }
    const left = answer.rows.length - shown
    return text.end(...(left > 0 ? [`${left} more rows: narrow it with from, to or project.`] : []))
  },
})

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
      const what = messageId === null ? kind : `${kind} ${messageId}`
      const line = `- ${shortTime(at)} | ${what} | ${shortLine(title, 80)} | ${shortLine(of?.name ?? 'no project', 60)} | chat ${chatId}`
      if (!text.add(line)) break
      shown += 1
    }
    const next = offset + shown
    const more = next < answer.total && shown > 0
    return text.end(...(more ? [nextCall('list_losses', { from, to, project, offset: next })] : []))
  },
})
