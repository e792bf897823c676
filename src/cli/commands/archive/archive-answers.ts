import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { numberText } from '../../terminal/formats.ts'
import type { Answers } from '../../client/answers.ts'
import { decodeAnswer, type Session } from '../../session.ts'
import { UserError } from '../../../model/user-error.ts'
import { queryOf } from '../../input/options.ts'

/** Unknown fields stay in the answer, because `--json` prints it as it came. */
export const archiveAnswer = z.looseObject({
  name: z.string(),
  state: z.string(),
  provenAt: z.string().nullable(),
  chats: z.number().nullable(),
  messages: z.number().nullable(),
  bytes: z.number().nullable(),
  leftOut: z.array(z.object({ id: z.string(), why: z.string() })).default([]),
  error: z.string().nullable().optional(),
  progress: z.object({ done: z.number(), total: z.number() }).nullable().optional(),
})

export type ArchiveAnswer = z.infer<typeof archiveAnswer>

const EVERY_MS = 200

export const chatsDone = ({ done, total }: { readonly done: number; readonly total: number }): string =>
  `${numberText(done)} of ${numberText(total)} chats`

/** Waits until an archive is made, and shows the progress on a terminal. @returns the finished or failed run */
export async function watchArchive(answers: Answers, name: string, { progress }: Session): Promise<ArchiveAnswer> {
  for (;;) {
    const path = `/api/archives/${encodeURIComponent(name)}`
    const run = decodeAnswer(archiveAnswer, await answers.get(path, new URLSearchParams()))
    if (run.state !== 'running') {
      await progress.show('')
      return run
    }
    if (run.progress) await progress.show(chatsDone(run.progress))
    await sleep(EVERY_MS)
  }
}

export const listAnswer = z.object({ total: z.number(), offset: z.number(), items: z.array(archiveAnswer) })

/** @throws UserError if there is no archive, or the folder of archives cannot be read */
export async function newestArchive(answers: Answers): Promise<string> {
  const [first] = decodeAnswer(listAnswer, await answers.get('/api/archives', queryOf({ limit: 1 }))).items
  if (first !== undefined) return first.name
  throw new UserError('archive-not-found', 'There is no archive yet.', 'Make one with: cursordex archive run')
}
