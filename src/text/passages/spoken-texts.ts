import type { Json } from '../../model/json.ts'
import type { Role } from '../../model/message.ts'
import type { Part, ToolPart } from '../../model/part.ts'

/** The texts of a message, by their author. */
export interface SpokenTexts {
  /** Texts that a model read: the user's words, attachments, and tool results. */
  readonly input: readonly string[]
  /** Texts that a model wrote: answers, thinking, code, to-do lists, and tool inputs. */
  readonly output: readonly string[]
}

/**
 * All texts of a message, each once. Messages of the program itself, for example about a failed request, are left out: no
 * model read or wrote them.
 */
export function spokenTexts(role: Role, parts: readonly Part[]): SpokenTexts {
  const input: string[] = []
  const output: string[] = []
  const own = role === 'user' ? input : output
  const toolInputs = new Set(parts.flatMap((part) => (part.kind === 'tool' ? stringsIn(part.input) : [])))
  const hasWholeFile = [...toolInputs].some((text) => text.includes('\n'))
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'thinking') own.push(part.text)
    else if (part.kind === 'todo') own.push(...part.items.map(({ content }) => content))
    else if (part.kind === 'attachment') input.push(part.text ?? '')
    // A tool's input may be in the row a second time, as code or as the resulting diff.
    else if (part.kind === 'code') {
      const isRepeated = toolInputs.has(part.text) || (hasWholeFile && part.language === 'diff')
      if (!isRepeated) own.push(part.text)
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

/** The strings at the top level of a value. Deeper ones are not whole files. */
function stringsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).filter((each) => typeof each === 'string')
}
