import type { Json } from '../../model/json.ts'
import type { Role } from '../../model/message.ts'
import type { Part, ToolPart } from '../../model/part.ts'

/** A message's text, by who made it. */
export interface SpokenTexts {
  /** What a model read: the user's words, what was attached to them, and what tools returned. */
  readonly input: readonly string[]
  /** What a model wrote: words, thoughts, code, lists of things to do, and what it handed to tools. */
  readonly output: readonly string[]
}

/**
 * Every text of a message once. Messages of the program itself, such as that a request failed, were neither read nor
 * written by a model.
 */
export function spokenTexts(role: Role, parts: readonly Part[]): SpokenTexts {
  const input: string[] = []
  const output: string[] = []
  const own = role === 'user' ? input : output
  const handed = new Set(parts.flatMap((part) => (part.kind === 'tool' ? stringsIn(part.input) : [])))
  const isWrittenOut = [...handed].some((text) => text.includes('\n'))
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'thinking') own.push(part.text)
    else if (part.kind === 'todo') own.push(...part.items.map(({ content }) => content))
    else if (part.kind === 'attachment') input.push(part.text ?? '')
    // What a tool was told to write stands in its row once more, as code or as the difference that it made.
    else if (part.kind === 'code') {
      const isTwice = handed.has(part.text) || (isWrittenOut && part.language === 'diff')
      if (!isTwice) own.push(part.text)
    } else if (part.kind === 'tool') {
      output.push(part.name, textOf(part.input))
      input.push(...returnedBy(part))
    }
  }
  return { input: input.filter(isFilled), output: output.filter(isFilled) }
}

const isFilled = (text: string): boolean => text !== ''

const returnedBy = ({ output, error }: ToolPart): string[] => [textOf(output), error ?? '']

function textOf(value: Json): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The strings a value holds at its top: deeper ones are no whole files. */
function stringsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).filter((each) => typeof each === 'string')
}
