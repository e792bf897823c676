/** A run of lines of an answer in the text form. */
export interface Section {
  readonly kind: 'prose' | 'thinking' | 'call' | 'result'
  /** What stood behind the mark; empty for prose. */
  readonly title: string
  readonly body: readonly string[]
}

const kinds: ReadonlyMap<string, Section['kind']> = new Map([
  ['Thinking', 'thinking'],
  ['Tool call', 'call'],
  ['Tool result', 'result'],
])

const marker = /^\[(Thinking|Tool call|Tool result)\](?:\s+(.*))?$/s

/** A mark at the margin opens a section, the indented and empty lines below are its body, all else is prose. */
export function readSections(lines: readonly string[]): readonly Section[] {
  const sections: { kind: Section['kind']; title: string; body: string[] }[] = []
  for (const line of lines) {
    const [, word, title = ''] = marker.exec(line.trimEnd()) ?? []
    const kind = word === undefined ? undefined : kinds.get(word)
    const open = sections.at(-1)
    if (kind !== undefined) sections.push({ kind, title: title.trim(), body: [] })
    else if (open !== undefined && (open.kind === 'prose' || /^\s|^$/.test(line))) open.body.push(line)
    else sections.push({ kind: 'prose', title: '', body: [line] })
  }
  return sections.map((section) => (section.kind === 'prose' ? section : { ...section, body: dedent(section.body) }))
}

/** Takes off the indent that all lines share. */
function dedent(lines: readonly string[]): readonly string[] {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length)
  const shared = indents.reduce((least, indent) => Math.min(least, indent), Number.MAX_SAFE_INTEGER)
  return lines.map((line) => (line.trim() === '' ? '' : line.slice(shared)))
}
