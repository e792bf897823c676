/** A quote, or an item of a list with the columns that its lines are indented by. */
export type Container = { readonly kind: 'quote' } | Item
interface Item {
  readonly kind: 'item'
  readonly width: number
  /** Nothing stands behind its mark: a blank line ends it. */
  readonly isBare: boolean
}

/** Beyond it marks are taken for words: no text is read for ever. */
const DEPTH_MAX = 100

/** Whether a line is blank to Markdown: other white space is text. */
export const isBlank = (line: string): boolean => /^ *$/u.test(line)

/** A container in which a line stands that is not blank. */
export const filled = (container: Container): Container =>
  container.kind === 'item' && container.isBare ? { ...container, isBare: false } : container

/** The containers that a line goes on with, and what they leave of it. */
export function goOn(open: readonly Container[], line: string): { readonly count: number; readonly rest: string } {
  let rest = line
  for (const [count, container] of open.entries()) {
    const taken = container.kind === 'quote' ? quoteMark(rest) : indentOf(container, rest)
    if (taken === null) return { count, rest }
    rest = rest.slice(taken)
  }
  return { count: open.length, rest }
}

function indentOf({ width, isBare }: Item, rest: string): number | null {
  if (isBlank(rest)) return isBare ? null : Math.min(width, rest.length)
  return rest.startsWith(' '.repeat(width)) ? width : null
}

function quoteMark(rest: string): number | null {
  return /^ {0,3}> ?/u.exec(rest)?.[0].length ?? null
}

/** The container that begins here, and how many columns its mark takes. */
export function containerOf(
  rest: string,
  depth: number,
  isInterrupting: boolean,
): { readonly container: Container; readonly taken: number } | null {
  if (depth >= DEPTH_MAX) return null
  const quote = quoteMark(rest)
  if (quote !== null) return { container: { kind: 'quote' }, taken: quote }
  const [mark, before = '', sign = ''] = /^( {0,3})([-+*]|\d{1,9}[.)])(?= |$)/u.exec(rest) ?? []
  if (mark === undefined) return null
  const tail = rest.slice(mark.length)
  const isBare = isBlank(tail)
  // What breaks a paragraph off must hold something, and be the first of its list.
  if (isInterrupting && (isBare || (/^\d/u.test(sign) && Number.parseInt(sign, 10) !== 1))) return null
  const gap = /^ */u.exec(tail)?.[0].length ?? 0
  const padding = isBare || gap > 4 ? 1 : gap
  const width = before.length + sign.length + padding
  return { container: { kind: 'item', width, isBare }, taken: Math.min(width, rest.length) }
}
