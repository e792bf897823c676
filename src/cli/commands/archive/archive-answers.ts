import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { countText, numberText } from '../../terminal/formats.ts'
import type { Answers } from '../../client/answers.ts'
import { decodeAnswer, type Session } from '../../session.ts'
import { UserError } from '../../../model/user-error.ts'
import { queryOf } from '../../input/options.ts'
import { archiveAnswer, archivesAnswer, type ArchiveRun } from '../../../api/http/schemas/archives.ts'

/** Fields that this program does not know stay, for --json. */
const looseArchive = z.catchall(archiveAnswer, z.unknown())

const EVERY_MS = 200

/** Chats as they are listed, and what lists leave out. */
export const archivedText = (chats: number, unlisted: number, messages: number): string =>
  [
    countText(chats, 'chat'),
    ...(unlisted > 0 ? [`${numberText(unlisted)} unlisted (subagents, drafts, empty)`] : []),
    countText(messages, 'message'),
  ].join(', ')

export const chatsDone = ({ done, total }: { readonly done: number; readonly total: number }): string =>
  `${numberText(done)} of ${numberText(total)} archived chats`

/** Waits until an archive is made, and shows the progress on a terminal. @returns the finished or failed run */
export async function watchArchive(answers: Answers, name: string, { progress }: Session): Promise<ArchiveRun> {
  for (;;) {
    const path = `/api/archives/${encodeURIComponent(name)}`
    const run = decodeAnswer(looseArchive, await answers.get(path, new URLSearchParams()))
    if (run.state !== 'running') {
      await progress.show('')
      return run
    }
    if (run.progress) await progress.show(chatsDone(run.progress))
    await sleep(EVERY_MS)
  }
}

/** @throws UserError if there is no archive, or the folder of archives cannot be read */
export async function newestArchive(answers: Answers): Promise<string> {
  const [first] = decodeAnswer(archivesAnswer, await answers.get('/api/archives', queryOf({ limit: 1 }))).items
  if (first !== undefined) return first.name
  throw new UserError('archive-not-found', 'There is no archive yet.', 'Make one with: cursordex archive run')
}
