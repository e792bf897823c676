/** One step of a chat, independent of the format of any build. */
export type Step =
  | { readonly kind: 'user'; readonly text: string; readonly attached: readonly Attached[] }
  | { readonly kind: 'think'; readonly text: string; readonly seconds: number }
  | { readonly kind: 'say'; readonly text: string }
  | ToolStep
  | { readonly kind: 'todos'; readonly items: readonly Todo[] }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'task'; readonly description: string; readonly prompt: string; readonly childId: string }

export interface Attached {
  readonly path: string
  /** The selected lines; null means the whole file. */
  readonly text: string | null
}

export interface Todo {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

export type ToolAct =
  | { readonly name: 'read'; readonly path: string; readonly contents: string }
  | { readonly name: 'edit'; readonly path: string; readonly lines: readonly string[] }
  | { readonly name: 'run'; readonly command: string; readonly output: string }
  | { readonly name: 'grep'; readonly pattern: string; readonly hits: readonly Hit[] }
  | { readonly name: 'list'; readonly path: string; readonly files: readonly string[] }
  | { readonly name: 'web'; readonly query: string; readonly answer: string }
  | { readonly name: 'mcp'; readonly tool: string; readonly input: Fields; readonly answer: string }

type Fields = Readonly<Record<string, unknown>>

export interface Hit {
  readonly path: string
  readonly line: number
  readonly text: string
}

export interface ToolStep {
  readonly kind: 'tool'
  readonly act: ToolAct
  readonly ending: Ending
}

export type Ending =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'cancelled' }

export interface Thread {
  readonly project: ProjectKey | null
  readonly title: string
  readonly mode: 'agent' | 'chat' | 'plan' | 'edit'
  readonly steps: readonly Step[]
}

export type ProjectKey = 'shop' | 'ledger-api' | 'fleet-gateway' | 'atlas' | 'thermostat' | 'field-notes'

export const user = (text: string, ...attached: readonly Attached[]): Step => ({ kind: 'user', text, attached })
export const think = (text: string, seconds = 4): Step => ({ kind: 'think', text, seconds })
export const say = (text: string): Step => ({ kind: 'say', text })

const call = (act: ToolAct): ToolStep => ({ kind: 'tool', act, ending: { kind: 'completed' } })

export const read = (path: string, contents: string): ToolStep => call({ name: 'read', path, contents })
/** @param changed lines of a diff, each with its leading sign */
export const edit = (path: string, ...changed: readonly string[]): ToolStep =>
  call({ name: 'edit', path, lines: changed })
export const run = (command: string, output: string): ToolStep => call({ name: 'run', command, output })

/** @param found `path:line:text`, as grep prints it */
export function grep(pattern: string, ...found: readonly string[]): ToolStep {
  const hits = found.map((each): Hit => {
    const [, path = '', line = '1', text = ''] = /^([^:]+):(\d+):(.*)$/s.exec(each) ?? []
    return { path, line: Number(line), text }
  })
  return call({ name: 'grep', pattern, hits })
}

export const failed = (step: ToolStep, message: string): ToolStep => ({ ...step, ending: { kind: 'failed', message } })
