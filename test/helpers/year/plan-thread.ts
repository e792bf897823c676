import type { Chance } from '../cursor.ts'
import type { PlannedCall, PlannedMessage } from './plan-year.ts'

export const DAY_MS = 86_400_000
/** After this time Cursor recorded no tokens. */
const LAST_TOKENS_MS = Date.UTC(2026, 1, 6)

interface ThreadFrame {
  readonly startMs: number
  /** True for a build that only wrote the times of its requests. */
  readonly isOld: boolean
  readonly hasNoTimes: boolean
  readonly isEmpty: boolean
}

const models = ['gpt-5', 'claude-4-sonnet', 'default', null] as const
const files = ['src/app.ts', 'src/cart/total.ts', 'README.md', '/home/ada/shop/src/app.ts', 'docs/メモ.md'] as const
/** The tool's name, and the argument that names its file. */
type Tool = readonly [name: string, field: string | null]
const tools: readonly [Tool, ...Tool[]] = [
  ['read_file', 'relativeWorkspacePath'],
  ['read_file_v2', 'targetFile'],
  ['edit_file', 'relativeWorkspacePath'],
  ['edit_file_v2', 'relativeWorkspacePath'],
  ['search_replace', 'file_path'],
  ['delete_file', 'target_file'],
  ['list_dir_v2', 'targetDirectory'],
  ['run_terminal_cmd', null],
  ['mcp_github_search', null],
]
const statuses = ['completed', 'completed', 'completed', 'error', 'cancelled', 'rejected', 'running'] as const

/** Turns: the user's question, the tool calls for it, the answer. */
export function planThread(chance: Chance, frame: ThreadFrame): PlannedMessage[] {
  const messages: PlannedMessage[] = []
  const turns = frame.isEmpty ? 0 : Math.ceil(chance.next() ** 3 * 12)
  let atMs = frame.startMs
  const add = (message: Partial<PlannedMessage> & Pick<PlannedMessage, 'role' | 'text'>): void => {
    atMs += chance.between(1, 240_000) * (chance.next() < 0.02 ? 40 : 1)
    messages.push({
      id: chance.uuid(),
      place: chance.next() < 0.05 ? 'orphan' : 'thread',
      atMs,
      timeIn: frame.hasNoTimes ? 'none' : timeOf(chance, frame.isOld, message.role),
      model: null,
      tokens: chance.next() < 0.2 ? null : 'zero',
      call: null,
      ...message,
    })
  }
  for (let turn = 0; turn < turns; turn += 1) {
    add({ role: 'user', text: `Please do ${turn}`, model: frame.isOld ? null : chance.pick(models) })
    for (let calls = chance.between(0, 5); calls > 0; calls -= 1)
      add({ role: 'assistant', text: '', call: call(chance) })
    if (chance.next() < 0.1) add({ role: 'assistant', text: '', place: 'blank' })
    const hasTokens = atMs < LAST_TOKENS_MS - DAY_MS && chance.next() < 0.4
    const tokens = hasTokens ? { input: chance.between(500, 90_000), output: chance.between(0, 3000) } : 'zero'
    add({ role: 'assistant', text: `Done ${turn}, as asked.`, tokens })
  }
  return messages
}

function timeOf(chance: Chance, isOld: boolean, role: 'user' | 'assistant'): PlannedMessage['timeIn'] {
  if (isOld) return role === 'user' || chance.next() < 0.3 ? 'none' : 'timing'
  return chance.next() < 0.1 ? 'header' : 'row'
}

function call(chance: Chance): PlannedCall {
  const [name, field] = chance.pick(tools)
  return { name, status: chance.pick(statuses), path: field === null ? null : chance.pick(files) }
}

/** The argument of a tool that names its file. */
export const pathField = (tool: string): string => tools.find(([name]) => name === tool)?.[1] ?? 'path'
