import { Chance } from './chance.ts'
import { type ChatPlan, type Shape, workspaceIdOf, chatRow } from './chat-row.ts'
import { CursorHome, type Store } from './cursor-home.ts'
import { sampleDialogues } from './dialogues.ts'
import { planChat, withOrphan, type Slot } from './plan-chat.ts'
import { sampleProjects } from './projects.ts'
import type { ProjectKey, Thread } from './script.ts'
import { messageRow } from './message-row.ts'

interface DemoHomeOptions {
  /** The same seed and the same hour give the same home, row by row. */
  readonly seed: string
  readonly nowMs: number
}

const DAY_MS = 86_400_000
const YEAR_DAYS = 362

/** Creates a Cursor home with one year's work in a folder, in the state in which Cursor leaves it when it quits. */
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

/** All chats, oldest first: few from a year ago, many recent ones. */
function planYear(chance: Chance, nowMs: number): ChatPlan[] {
  const audit = { id: chance.uuid(), childId: chance.uuid() }
  const dialogues = sampleDialogues(audit.childId)
  const queue = chance.shuffled(dialogues.chats)
  // Among the newer chats: only newer builds have separate chats for subagents.
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

/** The store's layout at that time of the year. */
function slotOf(thread: Thread, ageDays: number, createdAtMs: number): Slot {
  const shape: Shape = ageDays > 300 ? 'inline' : ageDays > 255 ? 'map' : 'split'
  return { thread, shape, build: ageDays > 165 ? 'old' : 'new', createdAtMs, id: '', parentId: null }
}

/** A time on a working day between 9:00 and 17:30. Chats of the last day are some hours old. */
function startOf(ageDays: number, nowMs: number, chance: Chance): number {
  const roughMs = nowMs - ageDays * DAY_MS
  if (ageDays < 2) return Math.floor(roughMs - (2 + chance.next()) * 3_600_000)
  const weekday = new Date(roughMs).getUTCDay()
  const weekend = weekday === 6 ? DAY_MS : weekday === 0 ? 2 * DAY_MS : 0
  const midnightMs = Math.floor((roughMs - weekend) / DAY_MS) * DAY_MS
  return midnightMs + chance.between(9 * 60, 17 * 60 + 30) * 60_000 + chance.between(0, 59_999)
}

/** What the running agent deletes when all of the sample was read. The ids are fixed, because another process deletes it. */
const doomed = {
  chat: new Chance('doomed chat').uuid(),
  messageOf: new Chance('chat of the doomed message').uuid(),
  message: new Chance('doomed message').uuid(),
}

/** Deletes a chat, and a message that its chat still names. */
export function loseSome(store: Store): void {
  store.deleteChat(doomed.chat)
  store.delete(`bubbleId:${doomed.messageOf}:${doomed.message}`)
  store.rewrite(`composerData:${doomed.messageOf}`)
}

/** Changes of chats during the year: a list is lost, an answer is regenerated, a chat is deleted. */
function withOddities(plans: readonly ChatPlan[], chance: Chance): ChatPlan[] {
  // Without a list, the times give the order, and old builds recorded no times.
  const newer = plans.filter(({ shape, parentId, messages }) => {
    return shape === 'split' && parentId === null && messages[0]?.build === 'new' && messages.length > 5
  })
  const [headerless, deleted, emptied, ...rest] = newer
  const [lost, losing, ...last] = rest
    .filter(({ thread }) => thread.steps.every(({ kind }) => kind !== 'task'))
    .toReversed()
  const others = rest.filter((plan) => last.includes(plan))
  const regenerated = new Set(others.filter(({ thread }) => /^[ -~]+$/.test(thread.title)).slice(0, 3))
  return plans.map((plan) => {
    if (plan === headerless) return { ...plan, shape: 'headerless' }
    if (plan === deleted) return { ...plan, isDeleted: true }
    if (plan === lost) return { ...plan, id: doomed.chat }
    if (plan === losing) return withDoomedMessage(plan)
    if (plan === emptied) return { ...plan, emptiedId: plan.messages[2]?.id ?? null }
    if (!regenerated.has(plan)) return plan
    const text = `The simplest thing first: clear the cache and start again. If it is still there, we look further into "${plan.thread.title}".`
    return withOrphan(plan, text, chance)
  })
}

function withDoomedMessage(plan: ChatPlan): ChatPlan {
  const messages = plan.messages.map((message, index) => (index === 2 ? { ...message, id: doomed.message } : message))
  return { ...plan, id: doomed.messageOf, messages }
}

/** Older builds list a chat in the window in which it began. */
function writeWorkspaces(home: CursorHome, plans: readonly ChatPlan[]): void {
  for (const [name, { workspace, workspaces }] of Object.entries(sampleProjects)) {
    const key = name as ProjectKey
    const listed = plans.filter((plan) => plan.thread.project === key && isListed(key, plan))
    for (let number = 0; number < workspaces; number += 1) {
      const ownPlans = listed.filter((_, index) => index % workspaces === number)
      home.workspace(
        workspaceIdOf(key, number),
        workspace,
        ownPlans.map(({ id }) => id),
      )
    }
  }
}

/** A window that was open at the time still lists a chat whose row is gone. Chats of several roots are only known this way. */
const isListed = (key: ProjectKey, { messages, isDeleted }: ChatPlan): boolean =>
  messages[0]?.build === 'old' || isDeleted || key === 'atlas'

/** Writes other content of a real store: a draft, rows that are not chats, and secrets that only Cursor may read. */
function writeLeftovers(store: Store, plans: readonly ChatPlan[], chance: Chance): void {
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

/** Every n-th message is written twice, as after streaming. Its row then comes after its neighbours'. */
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
