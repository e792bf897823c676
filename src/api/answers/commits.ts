import * as z from 'zod/mini'
import { confidences } from '../../model/commit.ts'
import { evidence } from './chats.ts'
import { maybeTime, pageOf, says, text, type Answer } from './common.ts'

const match = z.object({ id: text, title: text, confidence: z.enum(confidences), evidence })
/** A match as the API returns it. */
export type DescribedMatch = Answer<typeof match>

const commit = z.object({
  sha: text,
  committedAt: maybeTime,
  subject: text,
  chats: says(z.array(match), 'The chats that may have led to it, the likeliest first.'),
})

export const commitsAnswer = pageOf(commit)
export type CommitReport = Answer<typeof commitsAnswer>
