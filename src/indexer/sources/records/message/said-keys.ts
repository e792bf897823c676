import type { Part } from '../../../../model/part.ts'
import type { Said } from '../state/model-parts.ts'

/** What each thing that is said can be recognised by; a prompt is one thing. Null for what cannot be recognised. */
export function keysOfSaid({ role, parts }: Said): readonly (string | null)[] {
  if (role !== 'user' || parts.length === 0) return parts.map(keyOfPart)
  const words = squash(parts.map((part) => (part.kind === 'text' ? part.text : '')).join(' '))
  return [words === '' ? null : `user ${words}`]
}

function keyOfPart(part: Part): string | null {
  if (part.kind === 'text' || part.kind === 'thinking') return `${part.kind} ${squash(part.text)}`
  return part.kind === 'tool' && part.callId !== null ? keyOfCall(part.callId) : null
}

export const keyOfCall = (callId: string): string => `call ${callId}`

const squash = (text: string): string => text.replace(/\s+/g, ' ').trim()
