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
  readonly project: string | null
  readonly title: string
  readonly mode: 'agent' | 'chat' | 'plan' | 'edit'
  readonly steps: readonly Step[]
}
