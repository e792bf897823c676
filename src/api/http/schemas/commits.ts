import * as z from 'zod/mini'
import { confidences } from '../../../model/commit.ts'
import { evidence } from './chats.ts'
import { amount, count, maybeTime, pageOf, says, text, type Answer } from './common.ts'
import { projectRef } from './projects.ts'

const match = z.object({
  id: text,
  title: text,
  confidence: z.enum(confidences),
  score: says(amount, '0 to 1, to order chats. It is no probability.'),
  evidence,
})
/** A match as the API returns it. */
export type DescribedMatch = Answer<typeof match>

const commit = z.object({
  sha: text,
  committedAt: maybeTime,
  authoredAt: maybeTime,
  author: text,
  subject: text,
  project: projectRef,
  filesChanged: says(count, 'How many files it touched. A renamed file counts as two.'),
  chats: says(z.array(match), 'The chats that may have led to it, the likeliest first.'),
})
export type ReportedCommit = Answer<typeof commit>

export const commitsAnswer = pageOf(commit)
export type CommitReport = Answer<typeof commitsAnswer>
