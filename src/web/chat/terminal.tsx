import Anser from 'anser'
import { useState } from 'preact/hooks'
import { count, visible } from '../lib/format.ts'

const SHOWN_MAX = 20_000

/** What a terminal showed in its end: a line that was written over has only its last state. */
const lastStates = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
    .join('\n')

// Sequences that move the cursor or set a title: they have no place in a text.
// oxlint-disable-next-line no-control-regex -- these are what is removed
const OTHER_SEQUENCES = /\u001b(?:\[[\d;?]*[A-HJKSTf-ln-su]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78])/g

/** Output of a command in its colours, its beginning and its end if it is long: errors stand at the end. */
export function Terminal({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const plain = lastStates(text.replace(OTHER_SEQUENCES, ''))
  const isLong = plain.length > SHOWN_MAX && !isWhole
  const half = SHOWN_MAX / 2
  const shown = isLong ? `${plain.slice(0, half)}\n⋯\n${plain.slice(-half)}` : plain
  return (
    <>
      <pre class="plain terminal" tabIndex={0} dir="ltr">
        {Anser.ansiToJson(shown, { use_classes: true, remove_empty: true }).map(
          ({ content, fg, bg, decorations }, index) => {
            const classes = [fg, bg === null ? null : `${bg}-bg`, ...decorations].filter(Boolean).join(' ')
            return classes === '' ? (
              visible(content)
            ) : (
              <span key={index} class={classes}>
                {visible(content)}
              </span>
            )
          },
        )}
      </pre>
      {isLong && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all {count(plain.length)} characters
        </button>
      )}
    </>
  )
}
