import * as z from 'zod/mini'
import { decodeAnswer, type Session } from '../session.ts'
import type { Answers } from '../client/answers.ts'
import { printableLine } from '../../text/printable.ts'
import { chatsAnswer } from '../../api/http/schemas/chats.ts'

const answer = z.pick(chatsAnswer, { total: true })

/** The command that lists all names. */
const listedBy = {
  project: 'cursordex projects',
  model: 'cursordex tokens --group-by model',
  mode: 'cursordex stats',
  machine: 'cursordex hub status',
} as const

type Filters = Readonly<Partial<Record<keyof typeof listedBy, readonly string[]>>>

/** Notes which names of the filters no chat has. They may be misspelt, or only a part of a name. */
export async function noteUnknown(filters: Filters, answers: Answers, session: Session): Promise<void> {
  for (const kind of ['project', 'model', 'mode', 'machine'] as const) {
    for (const name of filters[kind] ?? []) {
      const query = new URLSearchParams({ [kind]: name, includeEmpty: 'true', subagents: 'true', limit: '1' })
      const { total } = decodeAnswer(answer, await answers.get('/api/chats', query))
      if (total > 0) continue
      await session.note(`No chat has the ${kind} "${printableLine(name)}". List all with: ${listedBy[kind]}\n`)
    }
  }
}
