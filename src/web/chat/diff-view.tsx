import { diffWordsWithSpace } from 'diff'
import { useMemo, useState } from 'preact/hooks'
import type { FileEdit, Hunk } from '../../shared/edits.ts'
import { count, visible } from '../lib/format.ts'

interface Line {
  readonly kind: 'added' | 'removed' | 'kept' | 'gap'
  readonly text: string
  readonly oldNumber: number | null
  readonly newNumber: number | null
  /** The line that it replaces, or that replaces it. */
  twin: Line | null
}

const SHOWN_MAX = 100
/** Words of longer lines are not compared: it would cost more than it tells. */
const WORDS_MAX = 400

const KINDS: Readonly<Record<string, Line['kind']>> = { '+': 'added', '-': 'removed', ' ': 'kept' }

function linesOfHunk({ oldStart, newStart, lines }: Hunk): Line[] {
  let [oldNumber, newNumber] = [oldStart, newStart]
  const all = lines.map((text): Line => {
    const kind = KINDS[text.charAt(0)] ?? 'kept'
    const line: Line = {
      kind,
      text: text.slice(1),
      oldNumber: kind === 'added' ? null : oldNumber,
      newNumber: kind === 'removed' ? null : newNumber,
      twin: null,
    }
    if (oldNumber !== null && kind !== 'added') oldNumber += 1
    if (newNumber !== null && kind !== 'removed') newNumber += 1
    return line
  })
  pair(all)
  return all
}

/** Lines that were taken away and those that came in their place, one by one. */
function pair(lines: readonly Line[]): void {
  let removed: Line[] = []
  lines.forEach((line, index) => {
    if (line.kind === 'removed') removed = [...(lines[index - 1]?.kind === 'removed' ? removed : []), line]
    else if (line.kind === 'kept') removed = []
    else {
      const other = removed.shift()
      line.twin = other ?? null
      if (other !== undefined) other.twin = line
    }
  })
}

const gap = (text: string): Line => ({ kind: 'gap', text, oldNumber: null, newNumber: null, twin: null })

function linesOf(hunks: readonly Hunk[]): readonly Line[] {
  return hunks.flatMap((hunk, index) => (index === 0 ? linesOfHunk(hunk) : [gap('⋯'), ...linesOfHunk(hunk)]))
}

/**
 * The first lines of each kind, so that many removed lines do not hide the added ones.
 * @returns `lines` itself if all of them are shown
 */
function shortened(lines: readonly Line[]): readonly Line[] {
  const counts = new Map<Line['kind'], number>()
  const shown = lines.flatMap((line) => {
    const number = (counts.get(line.kind) ?? 0) + 1
    counts.set(line.kind, number)
    return number <= SHOWN_MAX ? [line] : number === SHOWN_MAX + 1 ? [gap('⋯')] : []
  })
  return [...counts.values()].some((number) => number > SHOWN_MAX) ? shown : lines
}

/** A number of a line, in a column of its own. */
export const padded = (number: number | null): string => String(number ?? '').padStart(5)

const SIGNS = { added: '+', removed: '-', kept: ' ', gap: '' }

/** What an edit changed in a file: numbers where the call tells them, and the changed words of a line marked. */
export function DiffView({ edit }: { edit: FileEdit }) {
  const [isWhole, setWhole] = useState(false)
  const lines = useMemo(() => linesOf(edit.hunks), [edit])
  const shown = isWhole ? lines : shortened(lines)
  const hasNumbers =
    !edit.isSketch && lines.some(({ oldNumber, newNumber }) => oldNumber !== null || newNumber !== null)
  return (
    <>
      {edit.isSketch && <p class="soft">As the agent outlined it: lines that stay are left out.</p>}
      <pre class="diff" tabIndex={0} dir="ltr">
        {shown.map((line, index) => (
          <span
            key={index}
            class={line.kind}
            data-numbers={hasNumbers ? `${padded(line.oldNumber)}${padded(line.newNumber)}  ` : undefined}
          >
            {SIGNS[line.kind]}
            <Words line={line} />
            {'\n'}
          </span>
        ))}
      </pre>
      {shown !== lines && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all {count(lines.length)} lines
        </button>
      )}
    </>
  )
}

/** A changed line; words that its other state does not have are marked, unless all is new. */
function Words({ line: { kind, text, twin } }: { line: Line }) {
  if (twin === null || text.length > WORDS_MAX || twin.text.length > WORDS_MAX) return <>{visible(text)}</>
  const [before, after] = kind === 'removed' ? [text, twin.text] : [twin.text, text]
  const pieces = diffWordsWithSpace(before, after)
  const same = pieces.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length), 0)
  if (same * 3 < Math.min(before.trim().length, after.trim().length)) return <>{visible(text)}</>
  return (
    <>
      {pieces
        .filter(({ added, removed }) => (kind === 'removed' ? !added : !removed))
        .map(({ added, removed, value }, index) =>
          added || removed ? <mark key={index}>{visible(value)}</mark> : visible(value),
        )}
    </>
  )
}
