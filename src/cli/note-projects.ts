import { z } from 'zod'
import { decodeAnswer, type Session } from './session.ts'
import type { Answers } from './answers.ts'
import { printableLine } from './printable.ts'

const answer = z.object({ total: z.number() })

/** Says which of the projects that were asked for nobody knows here, for it may be misspelt. */
export async function noteUnknownProjects(
  projects: readonly string[] = [],
  answers: Answers,
  session: Session,
): Promise<void> {
  for (const project of projects) {
    const query = new URLSearchParams({ project, includeEmpty: 'true', subagents: 'true', limit: '1' })
    const { total } = decodeAnswer(answer, await answers.get('/api/chats', query))
    if (total > 0) continue
    await session.note(`No chat is of a project "${printableLine(project)}": list them with: cursordex projects\n`)
  }
}
