import * as z from 'zod/mini'
import { confidences } from '../../../model/commit.ts'
import { evidence } from './chats.ts'
import { amount, maybeCount, maybeTime, pageOf, says, text, texts, type Answer } from './common.ts'
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
  filesChanged: says(maybeCount, 'How many files it touched; null if unknown.'),
  chats: says(z.array(match), 'The chats that may have led to it, the likeliest first.'),
})
export type ReportedCommit = Answer<typeof commit>

export const commitsAnswer = z.extend(pageOf(commit), { warnings: says(texts, 'What could not be read.') })
export type CommitReport = Answer<typeof commitsAnswer>
