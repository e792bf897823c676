/** What a Markdown text says, and what of it stands between fences. */
export interface Stretch {
  /** UTF-16 offsets, end exclusive. */
  readonly start: number
  readonly end: number
  /** The lines of the fences are of the code. */
  readonly isCode: boolean
}

const FENCE = /^[^\S\n]*(`{3,}|~{3,})([^\n]*)/gm

/**
 * The stretches of a text in order, together all of it; null where it has no fence. A fence that is not closed goes on
 * to the end: the message is being written. What opens and closes on one line is code of one line.
 */
export function stretchesOf(text: string): readonly Stretch[] | null {
  if (!text.includes('```') && !text.includes('~~~')) return null
  const stretches: Stretch[] = []
  let from = 0
  let opened: { readonly start: number; readonly fence: string } | null = null
  const add = (start: number, end: number, isCode: boolean): void => {
    if (end > start) stretches.push({ start, end, isCode })
  }
  for (const { index, 0: line, 1: fence = '', 2: rest = '' } of text.matchAll(FENCE)) {
    if (opened === null) {
      add(from, index, false)
      from = index
      if (fence.startsWith('`') && rest.includes('```')) add(index, (from = index + line.length), true)
      else opened = { start: index, fence }
    } else if (fence.startsWith(opened.fence) && rest.trim() === '') {
      from = index + line.length
      add(opened.start, from, true)
      opened = null
    }
  }
  if (opened === null && stretches.length === 0) return null
  add(from, text.length, opened !== null)
  return stretches
}
