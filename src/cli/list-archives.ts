import { z } from 'zod'
import { Trouble } from '../model/trouble.ts'
import type { Answers } from './answers.ts'
import { queryOf } from './options.ts'
import { decodeAnswer } from './session.ts'
import { archiveAnswer } from './watch-archive.ts'

export const listAnswer = z.object({ total: z.number(), offset: z.number(), items: z.array(archiveAnswer) })

/** @throws Trouble where there is none, or where the folder of archives cannot be read */
export async function newestArchive(answers: Answers): Promise<string> {
  const [first] = decodeAnswer(listAnswer, await answers.get('/api/archives', queryOf({ limit: 1 }))).items
  if (first !== undefined) return first.name
  throw new Trouble('archive-not-found', 'There is no archive yet.', 'Make one with: cursordex archive run')
}
