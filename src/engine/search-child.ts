import { answerQuestion, prepareAnswers } from '../api/questions.ts'
import { openReader, type Mirror } from '../mirror/open.ts'
import { isDamage } from '../mirror/maintenance/check-pages.ts'
import type { QuestionKind } from '../api/questions.ts'
import { endWithParent } from './end-with-parent.ts'
import type { SearchOrder, SearchReply } from './search-messages.ts'

/**
 * A process that searches. SQLite in JavaScript cannot be interrupted, and ending a thread waits for its query; a
 * process can be killed at the deadline.
 */
const path = process.argv[2]
if (path === undefined) throw new Error('this file runs as a child of the daemon')
let mirror: Mirror | null = null

process.on('message', (order: SearchOrder) => {
  process.send?.(answer(order))
  prepare(order.question.kind)
})
// The daemon is gone, however it ended.
endWithParent()

function answer({ question, deadlineMs }: SearchOrder): SearchReply {
  try {
    mirror ??= openReader(path ?? '')
    return { kind: 'answer', answer: answerQuestion(mirror, question, deadlineMs) }
  } catch (error) {
    return {
      kind: 'failed',
      message: error instanceof Error ? error.message : String(error),
      isDamage: isDamage(error),
    }
  }
}

let isPreparing = false

/** In steps, between which a question is let in. */
function prepare(kind: QuestionKind): void {
  if (mirror === null || isPreparing) return
  isPreparing = true
  setImmediate(() => {
    isPreparing = false
    try {
      if (mirror !== null && prepareAnswers(mirror, kind)) prepare(kind)
    } catch {
      // It fails again, and is told, when a question of this kind is asked.
      isPreparing = false
    }
  })
}
