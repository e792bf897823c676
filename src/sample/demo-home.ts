import { Chance } from './chance.ts'
import type { ChatPlan, Shape } from './chat-row.ts'
import { workspaceIdOf } from './chat-row.ts'
import { CursorHome } from './cursor-home.ts'
import { sampleDialogues } from './dialogues.ts'
import { planChat, withOrphan } from './plan-chat.ts'
import type { Slot } from './plan-chat.ts'
import { sampleProjects } from './projects.ts'
import type { ProjectKey, Thread } from './script.ts'
import { writeChat } from './write-chat.ts'
import { writeLeftovers } from './write-leftovers.ts'

export interface DemoHomeOptions {
  /** The same seed and the same hour make the same home, row by row. */
  readonly seed: string
  readonly nowMs: number
}

const DAY_MS = 86_400_000
const YEAR_DAYS = 362

/** Makes a Cursor home of one year's work in a folder, and leaves it as Cursor does when it quits. */
export function writeDemoHome(folder: string, options: DemoHomeOptions): CursorHome {
  const chance = new Chance(options.seed)
  const home = new CursorHome(folder)
  const store = home.global()
  const plans = planYear(chance, options.nowMs)
  store.db.transaction(() => {
    for (const plan of plans) writeChat(store, plan)
    writeLeftovers(store, plans, chance)
  })()
  writeWorkspaces(home, plans)
  home.close()
  return home
}

/** All chats, the oldest first: a year ago few, lately many. */
function planYear(chance: Chance, nowMs: number): ChatPlan[] {
  const audit = { id: chance.uuid(), childId: chance.uuid() }
  const dialogues = sampleDialogues(audit.childId)
  const queue = chance.shuffled(dialogues.chats)
  // Among the newer ones: subagents with a chat of their own came late.
  queue.splice(Math.round(queue.length * 0.8), 0, dialogues.audit)
  const plans = queue.map((thread, index) => {
    const isAudit = thread === dialogues.audit
    const ageDays = YEAR_DAYS * (1 - index / (queue.length - 1)) ** 1.25
    const id = isAudit ? audit.id : chance.uuid()
    return planChat({ ...slotOf(thread, ageDays, startOf(ageDays, nowMs, chance)), id }, chance)
  })
  const parent = plans.find(({ id }) => id === audit.id)
  const child: Slot = {
    ...slotOf(dialogues.subagent, 0, (parent?.createdAtMs ?? nowMs) + 60_000),
    id: audit.childId,
    parentId: audit.id,
  }
  return withOddities([...plans, planChat(child, chance)], chance)
}

/** What stood in the store at that time of the year. */
function slotOf(thread: Thread, ageDays: number, createdAtMs: number): Slot {
  const shape: Shape = ageDays > 300 ? 'inline' : ageDays > 255 ? 'map' : 'split'
  return { thread, shape, build: ageDays > 165 ? 'old' : 'new', createdAtMs, id: '', parentId: null }
}

/** On a working day between nine and half past five; the last day's chats lie some hours back. */
function startOf(ageDays: number, nowMs: number, chance: Chance): number {
  const roughMs = nowMs - ageDays * DAY_MS
  if (ageDays < 2) return Math.floor(roughMs - (2 + chance.next()) * 3_600_000)
  const weekday = new Date(roughMs).getUTCDay()
  const weekend = weekday === 6 ? DAY_MS : weekday === 0 ? 2 * DAY_MS : 0
  const midnightMs = Math.floor((roughMs - weekend) / DAY_MS) * DAY_MS
  return midnightMs + chance.between(9 * 60, 17 * 60 + 30) * 60_000 + chance.between(0, 59_999)
}

/** What happens to a chat in a year: its list gets lost, an answer is asked for again, it is deleted. */
function withOddities(plans: readonly ChatPlan[], chance: Chance): ChatPlan[] {
  // Of messages without a list the time decides, and old builds gave them none.
  const newer = plans.filter(({ shape, parentId, messages }) => {
    return shape === 'split' && parentId === null && messages[0]?.build === 'new' && messages.length > 5
  })
  const [headerless, deleted, emptied, ...others] = newer
  const regenerated = new Set(others.filter(({ thread }) => /^[ -~]+$/.test(thread.title)).slice(0, 3))
  return plans.map((plan) => {
    if (plan === headerless) return { ...plan, shape: 'headerless' }
    if (plan === deleted) return { ...plan, isDeleted: true }
    if (plan === emptied) return { ...plan, emptiedId: plan.messages[2]?.id ?? null }
    if (!regenerated.has(plan)) return plan
    const text = `The simplest thing first: clear the cache and start again. If it is still there, we look further into "${plan.thread.title}".`
    return withOrphan(plan, text, chance)
  })
}

/** A window lists the chats that were begun in it, until builds stopped to do so. */
function writeWorkspaces(home: CursorHome, plans: readonly ChatPlan[]): void {
  for (const [name, { workspace, workspaces }] of Object.entries(sampleProjects)) {
    const key = name as ProjectKey
    const listed = plans.filter((plan) => plan.thread.project === key && isListed(key, plan))
    for (let number = 0; number < workspaces; number += 1) {
      const mine = listed.filter((_, index) => index % workspaces === number)
      home.workspace(
        workspaceIdOf(key, number),
        workspace,
        mine.map(({ id }) => id),
      )
    }
  }
}

/** A chat whose row is gone is known to a window that was open at the time; several roots are never told otherwise. */
const isListed = (key: ProjectKey, { messages, isDeleted }: ChatPlan): boolean =>
  messages[0]?.build === 'old' || isDeleted || key === 'atlas'
