import { readFileSync } from 'node:fs'
import type { Thread } from './script.ts'

/** A line of `dialogues.jsonl`. */
interface Dialogue extends Thread {
  readonly part: 'chat' | 'audit' | 'subagent'
}

/** Placeholder for the id of the subagent's chat. */
const CHILD = 'CHILD'

const readDialogues = (): readonly Dialogue[] =>
  readFileSync(new URL('../sample/dialogues.jsonl', import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Dialogue]))

export interface Dialogues {
  readonly chats: readonly Thread[]
  /** A chat that delegates work to a subagent, and the subagent's own chat. */
  readonly audit: Thread
  readonly subagent: Thread
}

/** The dialogues of the sample's chats. @param childId id of the subagent's chat */
export function sampleDialogues(childId: string): Dialogues {
  const all = readDialogues()
  const [audit, subagent] = [all.find(({ part }) => part === 'audit'), all.find(({ part }) => part === 'subagent')]
  if (audit === undefined || subagent === undefined) throw new Error('dialogues.jsonl lacks the audit')
  const steps = audit.steps.map((step) =>
    step.kind === 'task' && step.childId === CHILD ? { ...step, childId } : step,
  )
  return { chats: all.filter(({ part }) => part === 'chat'), audit: { ...audit, steps }, subagent }
}
