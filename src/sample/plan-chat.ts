import type { Chance } from './chance.ts'
import { projectOf } from './chat-row.ts'
import type { ChatPlan, Shape } from './chat-row.ts'
import type { MessagePlan } from './message-row.ts'
import { say } from './script.ts'
import type { Step, Thread } from './script.ts'
import type { Build } from './tool-data.ts'

export interface Slot {
  readonly thread: Thread
  readonly shape: Shape
  readonly build: Build
  readonly createdAtMs: number
  readonly id: string
  readonly parentId: string | null
}

const oldModels = ['claude-3.5-sonnet', 'gpt-4o', 'claude-3.7-sonnet', null] as const
const newModels = ['claude-4.5-sonnet', 'gpt-5.1-codex', 'composer-1', 'gemini-3-pro', null] as const

/** Adds times, the model and the data that its build records to a thread. */
export function planChat({ thread, shape, build, createdAtMs, id, parentId }: Slot, chance: Chance): ChatPlan {
  const model = chance.pick(build === 'old' ? oldModels : newModels)
  const hasTokens = build === 'old' && chance.next() < 0.7
  const windowMs = chance.between(90_000, 9_000_000)
  let atMs = createdAtMs
  const messages = thread.steps.map((step, index): MessagePlan => {
    atMs += pauseMs(step, index, chance)
    const isLast = step.kind === 'say' && (thread.steps[index + 1]?.kind ?? 'user') === 'user'
    const tokens = hasTokens && isLast ? recordTokens(index, chance) : null
    return {
      id: chance.uuid(),
      step,
      atMs,
      build,
      model,
      project: projectOf(thread),
      tokens,
      windowMs: windowMs + atMs - createdAtMs,
    }
  })
  return {
    id,
    shape,
    thread,
    version: versionOf(shape, build, chance),
    model,
    createdAtMs,
    messages,
    orphans: [],
    isArchived: chance.next() < 0.12,
    isDeleted: false,
    emptiedId: null,
    parentId,
    recordedCents: build === 'old' && chance.next() < 0.4 ? chance.between(4, 44) : null,
    isNamed: chance.next() < 0.85,
    isRunning: false,
  }
}

function pauseMs(step: Step, index: number, chance: Chance): number {
  if (index === 0) return chance.between(200, 900)
  if (step.kind === 'user') return chance.between(30_000, 400_000)
  return step.kind === 'think' ? step.seconds * 1000 : chance.between(1500, 45_000)
}

/** The prompt grows with the chat, because the whole chat is sent each time. */
function recordTokens(index: number, chance: Chance): { input: number; output: number } {
  return { input: 2800 + index * chance.between(400, 1600), output: chance.between(120, 1500) }
}

function versionOf(shape: Shape, build: Build, chance: Chance): number {
  if (shape === 'inline' || shape === 'map') return 1
  return build === 'old' ? chance.pick([3, 6, 8, 9]) : chance.pick([10, 11, 14, 16, 17, 18])
}

/** The last answer was regenerated, so its first version is no longer in the chat. */
export function withOrphan(plan: ChatPlan, text: string, chance: Chance): ChatPlan {
  const last = plan.messages.at(-1)
  if (last === undefined) return plan
  const orphan = { ...last, id: chance.uuid(), step: say(text), atMs: last.atMs - 20_000, tokens: null }
  return { ...plan, orphans: [orphan] }
}
