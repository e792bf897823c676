import { z } from 'zod'
import { UserError } from '../../../model/user-error.ts'
import type { Answers } from '../../client/answers.ts'
import { queryOf } from '../../input/options.ts'
import { decodeAnswer } from '../../session.ts'
import { archiveAnswer } from './watch-archive.ts'

export const listAnswer = z.object({ total: z.number(), offset: z.number(), items: z.array(archiveAnswer) })

/** @throws UserError where there is none, or where the folder of archives cannot be read */
export async function newestArchive(answers: Answers): Promise<string> {
  const [first] = decodeAnswer(listAnswer, await answers.get('/api/archives', queryOf({ limit: 1 }))).items
  if (first !== undefined) return first.name
  throw new UserError('archive-not-found', 'There is no archive yet.', 'Make one with: cursordex archive run')
}
