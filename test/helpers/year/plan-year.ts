import { Temporal } from 'temporal-polyfill'
import { Chance } from '../cursor.ts'
import { DAY_MS, planThread } from './plan-thread.ts'

/** A tool call. `status` is the real outcome, independent of Cursor's spelling. */
export interface PlannedCall {
  readonly name: string
  readonly status: 'completed' | 'error' | 'cancelled' | 'rejected' | 'running'
  /** The file that its arguments name, and the argument's name. */
  readonly path: string | null
}

export interface PlannedMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  /** `orphan`: its chat does not name it. `blank`: its row has nothing to show, so it is not a message. */
  readonly place: 'thread' | 'orphan' | 'blank'
  /** When it was sent, in epoch milliseconds. */
  readonly atMs: number
  /** Where its time is stored: in its row or its chat. `none`: nowhere, so it gets the time of a neighbour. */
  readonly timeIn: 'row' | 'header' | 'timing' | 'none'
  /** `default` leaves the choice to Cursor and names no model. */
  readonly model: string | null
  /** `zero`: counts of 0, as in nearly every row. Null: the row has no counts. */
  readonly tokens: { readonly input: number; readonly output: number } | 'zero' | null
  readonly text: string
  readonly call: PlannedCall | null
}

export interface PlannedChat {
  readonly id: string
  /** `gone`: Cursor removed its row's value, so its messages are a thread ordered by time. */
  readonly row: 'whole' | 'gone'
  readonly project: string | null
  readonly name: string | null
  /** Null if the row does not contain it. */
  readonly createdAtMs: number | null
  readonly mode: string | null
  readonly isArchived: boolean
  readonly isDraft: boolean
  readonly parentId: string | null
  readonly model: string | null
  readonly lines: { readonly added: number; readonly removed: number; readonly files: number } | null
  /** The cost in `usageData`, in cents. */
  readonly costCents: number | null
  /** The value of `contextTokensUsed`; the limit beside it is 200,000. */
  readonly contextTokens: number | null
  /** In the order of the thread, including orphans and blank rows. */
  readonly messages: readonly PlannedMessage[]
}

export interface YearPlan {
  readonly projects: readonly string[]
  readonly chats: readonly PlannedChat[]
}

/** In this year the clocks of the tests' time zones change, twice in each. */
const FIRST_DAY = Date.UTC(2025, 2, 1)
const DAYS = 380
/** Before this time Cursor wrote no message times. */

const FIRST_TIMES_MS = Date.UTC(2025, 8, 20)
const FIRST_CENTS_ENDS_MS = Date.UTC(2025, 6, 1)

const projects = ['shop', '家計簿 🧾', 'ledger-api'] as const
const modes = ['agent', 'chat', 'edit'] as const

/**
 * A year and two weeks of chats, the same for the same seed, as Cursor's builds wrote them: old builds until September
 * 2025 (only times of requests, sometimes token counts and cents) and new builds after it (a time in each
 * row, the context size, no counts since February 2026). They include archived chats, drafts, subagents, chats without
 * a name, a project, a mode or any time, chats without a row, orphans and blank rows, and
 * single messages one millisecond before and after midnight and each clock change in the given zones.
 *
 * The plan contains everything: for each message of a thread its time and whether
 * that is stored, its model, its recorded tokens, its call and the outcome; for each chat its project, kind, changed
 * lines, cents and context. The expected result follows from Cursor's format alone.
 * @param chatCount number of chats besides the planted ones
 */
export function planYear(
  seed: string,
  { chatCount, zones }: { chatCount: number; zones: readonly string[] },
): YearPlan {
  const chance = new Chance(seed)
  const chats: PlannedChat[] = []
  for (let n = 0; n < chatCount; n += 1) {
    const chat = planChat(chance, n)
    chats.push(chat)
    if (n % 17 === 5) chats.push({ ...planChat(chance, n + chatCount), parentId: chat.id, project: null, name: 'Look' })
  }
  for (const zone of zones) chats.push(...plantBorders(chance, zone))
  return { projects, chats }
}

function planChat(chance: Chance, n: number): PlannedChat {
  // Nobody works for two weeks in summer, so that there are empty days and a streak ends.
  const day = Math.floor(chance.next() * DAYS)
  const startMs = FIRST_DAY + (day >= 150 && day < 164 ? 170 : day) * DAY_MS + chance.between(0, DAY_MS - 1)
  const isOld = startMs < FIRST_TIMES_MS
  const hasNoTimes = n % 29 === 3
  const edits = chance.next() < 0.6
  return {
    id: chance.uuid(),
    row: n % 41 === 7 ? 'gone' : 'whole',
    project: chance.next() < 0.2 ? null : chance.pick(projects),
    name: chance.next() < 0.15 ? null : `Chat ${n}`,
    createdAtMs: hasNoTimes ? null : startMs,
    mode: chance.next() < 0.1 ? null : chance.pick(modes),
    isArchived: chance.next() < 0.1,
    isDraft: n % 37 === 11,
    parentId: null,
    model: chance.next() < 0.3 ? null : 'claude-4-sonnet',
    lines: edits
      ? { added: chance.between(0, 300), removed: chance.between(0, 90), files: chance.between(0, 9) }
      : null,
    costCents: startMs < FIRST_CENTS_ENDS_MS && chance.next() < 0.5 ? chance.between(1, 400) / 4 : null,
    contextTokens: isOld || chance.next() < 0.3 ? null : chance.between(2000, 180_000),
    messages: planThread(chance, { startMs, isOld, hasNoTimes, isEmpty: n % 31 === 9 }),
  }
}

/** A message on each side of each border: in the last millisecond before it and the first one after it. */
function plantBorders(chance: Chance, zone: string): PlannedChat[] {
  return bordersOf(zone).map((borderMs, n) => ({
    id: chance.uuid(),
    row: 'whole',
    project: projects[n % projects.length] ?? null,
    name: `Border of ${zone}`,
    createdAtMs: borderMs - 60_000,
    mode: 'agent',
    isArchived: false,
    isDraft: false,
    parentId: null,
    model: null,
    lines: null,
    costCents: null,
    contextTokens: null,
    messages: [-1, 0].map((offsetMs) => ({
      id: chance.uuid(),
      role: offsetMs < 0 ? 'user' : 'assistant',
      place: 'thread',
      atMs: borderMs + offsetMs,
      timeIn: 'row',
      model: null,
      tokens: 'zero',
      text: `${zone} ${offsetMs}`,
      call: null,
    })),
  }))
}

/** Midnights of a zone: some ordinary ones, those around each clock change, and the changes themselves. */
function bordersOf(zone: string): number[] {
  const borders = [40, 75, 200, 305, 340].map((day) => midnightAfter(FIRST_DAY + day * DAY_MS, zone))
  let moment = Temporal.Instant.fromEpochMilliseconds(FIRST_DAY).toZonedDateTimeISO(zone).getTimeZoneTransition('next')
  while (moment !== null && moment.epochMilliseconds < FIRST_DAY + DAYS * DAY_MS) {
    const atMs = moment.epochMilliseconds
    borders.push(atMs, midnightAfter(atMs - DAY_MS, zone), midnightAfter(atMs, zone))
    moment = moment.getTimeZoneTransition('next')
  }
  return borders
}

const midnightAfter = (ms: number, zone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).add({ days: 1 }).startOfDay().epochMilliseconds
