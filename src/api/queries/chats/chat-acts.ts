import { toolStatuses } from '../../../model/part.ts'
import type { Part, ToolStatus } from '../../../model/part.ts'
import type { Mirror } from '../../../mirror/open.ts'

/** What a chat did, without the texts: a call of a tool, or a file given to the model. */
export type ChatAct =
  | { readonly kind: 'tool'; readonly name: string; readonly status: ToolStatus; readonly paths: readonly string[] }
  | { readonly kind: 'attachment'; readonly path: string }

const THREAD_PARTS = `
  select b.parts
  from messages m join bodies b on b.num = m.body
  where m.chat = ? and m.is_orphan = 0
  order by m.position, m.key
`

/** The acts of a chat's thread, in its order; what orphans did is not among them. */
export function listChatActs(db: Mirror, chatNum: number): ChatAct[] {
  const acts: ChatAct[] = []
  // One body at a time: a long chat holds tens of megabytes of tool output that nobody asked for here.
  for (const parts of db.prepare<[number], string>(THREAD_PARTS).pluck().iterate(chatNum)) {
    for (const part of JSON.parse(parts) as readonly Part[]) {
      if (part.kind === 'attachment') acts.push({ kind: 'attachment', path: part.path })
      if (part.kind === 'tool') acts.push(toolAct(part))
    }
  }
  return acts
}

function toolAct(part: Extract<Part, { kind: 'tool' }>): ChatAct {
  const status = toolStatuses.includes(part.status) ? part.status : 'completed'
  return { kind: 'tool', name: part.name, status, paths: part.paths }
}
