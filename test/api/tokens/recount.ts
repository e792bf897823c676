import { estimateTokens } from '../../../src/text/tokens/estimate-tokens.ts'
import type { TokenGrouping } from '../../../src/api/queries/tokens.ts'
import { readExpected, type ExpectedChat, type ExpectedMessage } from '../../helpers/oracle.ts'
import type { YearPlan } from '../../helpers/year/plan-year.ts'

export interface RecountRequest {
  readonly groupBy: TokenGrouping
  readonly timeZone: string
  readonly fromMs?: number
  readonly toMs?: number
  /** The path of the project. */
  readonly project?: string
  readonly model?: string
}

interface Counted {
  /** Null if no message has it. */
  input: number | null
  output: number | null
  messages: number
}

export interface RecountedRow {
  recorded: Counted | null
  estimated: Counted | null
  contextSnapshot: { tokens: number; chats: number } | null
  recordedCents: number | null
  coverage: { messages: number; recorded: number; estimated: number; unknown: number }
}

/** One counted item, with everything by which it can be grouped and filtered. */
interface Item {
  readonly atMs: number | null
  readonly project: string | null
  readonly model: string | null
  readonly chatId: string
  add(row: RecountedRow): void
}

/**
 * A second, independent implementation of the ledger. It reads every row of the raw store for every question, and uses
 * the calendar of `Intl`. Only the estimate of one text is the program's own.
 */
export class Recount {
  readonly #items: readonly Item[]

  constructor(storePath: string, plan: YearPlan) {
    const { chats } = readExpected(storePath)
    const projectOf = new Map(plan.chats.map(({ id, project, parentId }) => [id, { project, parentId }]))
    const drafts = new Set(plan.chats.filter(({ isDraft, row }) => isDraft && row === 'whole').map(({ id }) => id))
    this.#items = [...chats.values()].flatMap((chat) => {
      if (drafts.has(chat.id)) return []
      const own = projectOf.get(chat.id)
      const project = own?.project ?? projectOf.get(own?.parentId ?? '')?.project ?? null
      const planned = plan.chats.find(({ id, row }) => id === chat.id && row === 'whole')
      // The chat's current model is not the model of each message.
      const models = new Set(threadOf(chat).map(({ model }) => model))
      models.delete(null)
      const onlyModel = models.size === 1 ? ([...models][0] ?? null) : null
      const frame = { project: project === null ? null : encodeProject(project), chatId: chat.id }
      const messages = threadOf(chat).map((message): Item => messageItem(message, frame, onlyModel))
      return planned !== undefined ? [...messages, ...chatItems(chat, planned, frame, onlyModel)] : messages
    })
  }

  rows(request: RecountRequest): Map<string | null, RecountedRow> {
    const rows = new Map<string | null, RecountedRow>()
    for (const item of this.#items) {
      if (!isAskedFor(item, request)) continue
      const key = keyOf(item, request)
      const row = rows.get(key) ?? emptyRow()
      rows.set(key, row)
      item.add(row)
    }
    return rows
  }

  totals(request: RecountRequest): RecountedRow {
    const total = emptyRow()
    for (const item of this.#items) if (isAskedFor(item, request)) item.add(total)
    return total
  }
}

const threadOf = (chat: ExpectedChat): readonly ExpectedMessage[] => chat.messages.filter(({ isOrphan }) => !isOrphan)

const encodeProject = (project: string): string => `/home/ada/${project}`

const emptyRow = (): RecountedRow => ({
  recorded: null,
  estimated: null,
  contextSnapshot: null,
  recordedCents: null,
  coverage: { messages: 0, recorded: 0, estimated: 0, unknown: 0 },
})

type Frame = Pick<Item, 'project' | 'chatId'>

function messageItem(message: ExpectedMessage, frame: Frame, onlyModel: string | null): Item {
  const { tokens, createdAt, model } = message
  return {
    ...frame,
    atMs: createdAt === null ? null : Date.parse(createdAt),
    model: model ?? onlyModel,
    add: (row) => {
      row.coverage.messages += 1
      const name = tokens === null ? 'estimated' : 'recorded'
      row.coverage[name] += 1
      const counted = (row[name] ??= { input: null, output: null, messages: 0 })
      const { input, output } = tokens ?? plainEstimate(message)
      if (input !== null) counted.input = (counted.input ?? 0) + input
      if (output !== null) counted.output = (counted.output ?? 0) + output
      counted.messages += 1
    },
  }
}

/** Tokens of the texts in the generated year: words, and calls with their results. */
function plainEstimate({ role, holdings }: ExpectedMessage): { input: number; output: number } {
  const words = holdings.text.reduce((sum, text) => sum + estimateTokens(text), 0)
  const written = holdings.tool.reduce(
    (sum, { name, input }) => sum + estimateTokens(name) + estimateTokens(JSON.stringify(input)),
    0,
  )
  const returned = holdings.tool.reduce((sum, { output }) => sum + estimateTokens(JSON.stringify(output)), 0)
  return role === 'user' ? { input: words, output: 0 } : { input: returned, output: words + written }
}

function chatItems(chat: ExpectedChat, planned: YearPlan['chats'][number], frame: Frame, model: string | null): Item[] {
  const own = threadOf(chat).filter(({ createdAtSource }) =>
    ['message', 'header', 'timing'].includes(createdAtSource ?? ''),
  )
  const times = own.map(({ createdAt }) => Date.parse(createdAt ?? ''))
  const placed = { ...frame, atMs: times.length > 0 ? Math.max(...times) : planned.createdAtMs }
  const { contextTokens, costCents } = planned
  const context = (row: RecountedRow): void => {
    row.contextSnapshot ??= { tokens: 0, chats: 0 }
    row.contextSnapshot.tokens += contextTokens ?? 0
    row.contextSnapshot.chats += 1
  }
  // The model for which it was paid is not stored.
  const cost = (row: RecountedRow): void => void (row.recordedCents = (row.recordedCents ?? 0) + (costCents ?? 0))
  return [
    ...(contextTokens === null ? [] : [{ ...placed, model, add: context }]),
    ...(costCents === null ? [] : [{ ...placed, model: null, add: cost }]),
  ]
}

function isAskedFor({ atMs, project, model }: Item, request: RecountRequest): boolean {
  const { fromMs, toMs } = request
  if (fromMs !== undefined && (atMs === null || atMs < fromMs)) return false
  if (toMs !== undefined && (atMs === null || atMs >= toMs)) return false
  if (request.project !== undefined && project !== request.project) return false
  return request.model === undefined || model === request.model
}

function keyOf({ atMs, project, model, chatId }: Item, { groupBy, timeZone }: RecountRequest): string | null {
  if (groupBy === 'chat') return chatId
  if (groupBy === 'project') return project
  if (groupBy === 'model') return model
  if (atMs === null) return null
  const day = localDay(atMs, timeZone)
  if (groupBy === 'month') return `${day.slice(0, 7)}-01`
  if (groupBy === 'day') return day
  const noon = new Date(`${day}T12:00:00Z`)
  noon.setUTCDate(noon.getUTCDate() - ((noon.getUTCDay() + 6) % 7))
  return noon.toISOString().slice(0, 10)
}

const calendars = new Map<string, Intl.DateTimeFormat>()

function localDay(ms: number, timeZone: string): string {
  let calendar = calendars.get(timeZone)
  if (calendar === undefined) {
    calendar = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
    calendars.set(timeZone, calendar)
  }
  return calendar.format(ms)
}
