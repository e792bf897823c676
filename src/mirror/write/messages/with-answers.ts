import type { Part } from '../../../model/part.ts'
import type { Ask, MessageWrite } from '../batch.ts'
import type { HeldMessage } from './message-columns.ts'
import type { Mirror } from '../../open.ts'
import { packMessage } from './pack-message.ts'
import { readParts } from './save-message.ts'

/** A message that was read again, with what was found for it before: Cursor writes the same row many times over. */
export function withAnswers(db: Mirror, held: HeldMessage | null, message: MessageWrite): MessageWrite {
  const { asks, partsJson } = message
  if (held === null || asks.length === 0) return message
  const before = JSON.parse(readParts(db, held.body)) as Part[]
  const found = asks.map((ask) => ({ ask, part: answerAmong(before, ask) })).filter(({ part }) => part !== null)
  if (found.length === 0) return message
  const parts = found.reduce(
    (sum, { ask, part }) => (part === null ? sum : takeOver(sum, ask, part)),
    JSON.parse(partsJson) as readonly Part[],
  )
  const settled = new Set(found.map(({ ask }) => ask))
  return packMessage({ ...message, parts, asks: asks.filter((ask) => !settled.has(ask)) })
}

function answerAmong(parts: readonly Part[], { kind, name }: Ask): Part | null {
  const isAnswer = (part: Part): boolean =>
    kind === 'output'
      ? part.kind === 'tool' && part.callId === name && part.outputFrom !== undefined
      : part.kind === 'attachment' && part.hash === name
  return parts.find(isAnswer) ?? null
}

function takeOver(parts: readonly Part[], { name }: Ask, answer: Part): readonly Part[] {
  if (answer.kind !== 'tool') return [...parts, answer]
  const { output, outputFrom } = answer
  return parts.map((part) =>
    part.kind === 'tool' && part.callId === name && outputFrom !== undefined ? { ...part, output, outputFrom } : part,
  )
}
