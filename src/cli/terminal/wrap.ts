import { displayWidth } from './display-width.ts'
import type { Screen } from './screen.ts'

/** Breaks a text between words where the terminal ends; elsewhere it stays one line. @param indent columns before each line */
export function wrap(text: string, indent: number, { width }: Screen): string {
  if (width === null) return text
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || displayWidth(longer) <= width - indent) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`)
}
