import { plural } from '../lib/format.ts'
import type { Outline, Spot } from './whole.ts'

const COLUMNS = 48

interface MapProps {
  readonly outline: Outline
  readonly hits: readonly Spot[]
  readonly show: (messageId: string) => void
}

/** The chat from its beginning to its end: where prompts, edits, failures and hits are. */
export function ChatMap({ outline: { prompts, edits, failures }, hits, show }: MapProps) {
  const kinds = [
    ['hits', 'hit', hits],
    ['failures', 'failure', failures],
    ['edits', 'edit', edits],
    ['prompts', 'prompt', prompts],
  ] as const
  const found = kinds.filter(([, , spots]) => spots.length > 0)
  if (found.length === 0) return null
  const press = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const at = (event.clientX - left) / width
    const spots = found.flatMap(([, , all]) => all)
    const nearest = spots.reduce((best, spot) => (Math.abs(spot.at - at) < Math.abs(best.at - at) ? spot : best))
    show(nearest.id)
  }
  return (
    <section>
      <h2>Course of the chat</h2>
      {/* By keyboard the same places are reached by the outline, next failure and next hit. */}
      <div class="map" aria-hidden="true" onClick={press}>
        {kinds.map(([name, , spots], row) =>
          [...new Set(spots.map(({ at }) => Math.min(COLUMNS - 1, Math.floor(at * COLUMNS))))].map((column) => (
            <span key={`${name} ${column}`} class={name} style={{ gridArea: `${row + 1} / ${column + 1}` }} />
          )),
        )}
      </div>
      <p class="inline legend">
        {found.toReversed().map(([name, word, { length }]) => (
          <span key={name} class={name}>
            {plural(length, word)}
          </span>
        ))}
      </p>
    </section>
  )
}
