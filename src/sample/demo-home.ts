import { Chance } from './chance.ts'
import { type ChatPlan, type Shape, workspaceIdOf, chatRow } from './chat-row.ts'
import { CursorHome, type Store } from './cursor-home.ts'
import { sampleDialogues } from './dialogues.ts'
import { planChat, withOrphan, type Slot } from './plan-chat.ts'
import { sampleProjects } from './projects.ts'
import type { ProjectKey, Thread } from './script.ts'
import { messageRow } from './message-row.ts'

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

/** What else lies in such a store: a draft, rows that are no chat, and what nobody but Cursor may read. */
export function writeLeftovers(store: Store, plans: readonly ChatPlan[], chance: Chance): void {
  store.chat('empty-state-draft', { _v: 14, text: 'unsent words' })
  store.chat(chance.uuid(), { _v: 16, createdAt: plans[0]?.createdAtMs, fullConversationHeadersOnly: [] })
  for (const { id } of plans) {
    store.put(`checkpointId:${id}:${chance.uuid()}`, { files: [], nonExistentFiles: [], newlyCreatedFolders: [] })
    const content = { role: 'system', content: 'You are an agent.', id }
    store.put(`agentKv:blob:${chance.hex(64)}`, Buffer.from(JSON.stringify(content)))
  }
  store.item('cursorAuth/accessToken', 'sample-token-that-nobody-may-read')
  store.item('workbench.colorTheme', 'Cursor Dark')
}

/** Each so-many-th message is written twice, as after streaming: its row then comes after its neighbours'. */
const REWRITTEN_EVERY = 5

export function writeChat(store: Store, plan: ChatPlan): void {
  store.chat(plan.id, plan.isDeleted ? null : chatRow(plan))
  const isSplit = plan.shape === 'split' || plan.shape === 'headerless'
  const apart = isSplit ? [...plan.messages, ...plan.orphans] : []
  const again = apart.filter((_, index) => index % REWRITTEN_EVERY === 1)
  for (const message of [...apart, ...again]) {
    store.message(plan.id, message.id, message.id === plan.emptiedId ? null : messageRow(message))
  }
}
