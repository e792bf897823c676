import type { Role } from '../../../model/message.ts'

/** The lines of one message in the text form, without the line that opened it. */
export interface TextBlock {
  readonly role: Role
  readonly lines: readonly string[]
}

/**
 * A line that is exactly `user:` or `assistant:` opens a message, but such a line may also be part of what was said:
 * inside a prompt's own tags, and inside fenced code unless a prompt's tags follow it.
 */
export function splitBlocks(lines: readonly string[]): readonly TextBlock[] {
  const blocks: { role: Role; lines: string[] }[] = []
  let fence = false
  for (let at = 0; at < lines.length; at += 1) {
    const role = roleOf(lines[at])
    const block = blocks.at(-1)
    if (role !== null && (!fence || (role === 'user' && opensPrompt(lines, at + 1)))) {
      const end = role === 'user' ? promptEnd(lines, at + 1) : at
      blocks.push({ role, lines: lines.slice(at + 1, end + 1) })
      fence = false
      at = end
    } else if (block !== undefined) {
      block.lines.push(lines[at] ?? '')
      if (block.role === 'assistant' && /^(?:```|~~~)/.test(lines[at] ?? '')) fence = !fence
    }
  }
  return blocks
}

function roleOf(line: string | undefined): Role | null {
  const word = line?.trimEnd()
  if (word === 'user:') return 'user'
  return word === 'assistant:' ? 'assistant' : null
}

const isBlankLine = (line: string): boolean => line.trim() === ''

function opensPrompt(lines: readonly string[], from: number): boolean {
  const next = lines.slice(from, from + 5).find((line) => !isBlankLine(line))
  return next !== undefined && /^<(?:user_query|timestamp|user_info|attached_files|image_files)>/.test(next)
}

/** Tags open within this many lines of `user:`, where they open at all. */
const wrapperLinesMax = 2000

/** The line with the closing tag of the prompt that starts here, or the line before where there is none. */
function promptEnd(lines: readonly string[], from: number): number {
  if (!opensPrompt(lines, from)) return from - 1
  let isOpen = false
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (!isOpen && (at - from > wrapperLinesMax || roleOf(line) !== null)) return from - 1
    // Another prompt opens while this one is not closed: its tag was never written.
    if (isOpen && roleOf(line) === 'user' && opensPrompt(lines, at + 1)) return from - 1
    isOpen ||= line.includes('<user_query>')
    if (isOpen && line.includes('</user_query>')) return at
  }
  return from - 1
}
