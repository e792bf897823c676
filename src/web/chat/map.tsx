import { useMemo } from 'preact/hooks'
import { plural } from '../lib/format.ts'
import type { Outline, Spot } from './whole.ts'

const COLUMNS = 48

interface Column {
  readonly prompts: Spot[]
  readonly edits: Spot[]
  readonly failures: Spot[]
  readonly hits: Spot[]
}

/** The chat from its beginning to its end: where prompts, edits, failures and hits are. */
export function ChatMap({
  outline: { prompts, edits, failures },
  hits,
  show,
}: {
  outline: Outline
  hits: readonly Spot[]
  show: (messageId: string) => void
}) {
  const columns = useMemo(() => {
    const all = Array.from({ length: COLUMNS }, (): Column => ({ prompts: [], edits: [], failures: [], hits: [] }))
    for (const [name, spots] of Object.entries({ prompts, edits, failures, hits })) {
      for (const spot of spots)
        all[Math.min(COLUMNS - 1, Math.floor(spot.at * COLUMNS))]?.[name as keyof Column].push(spot)
    }
    return all
  }, [prompts, edits, failures, hits])
  if (prompts.length + edits.length + failures.length + hits.length === 0) return null
  const said = [
    plural(prompts.length, 'prompt'),
    plural(edits.length, 'message') + ' with edits',
    plural(failures.length, 'failure'),
    ...(hits.length > 0 ? [plural(hits.length, 'hit')] : []),
  ].join(', ')
  const press = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const at = (event.clientX - left) / width
    const spots = [...hits, ...failures, ...edits, ...prompts]
    const nearest = spots.reduce((best, spot) => (Math.abs(spot.at - at) < Math.abs(best.at - at) ? spot : best))
    show(nearest.id)
  }
  return (
    <section>
      <h2>Course of the chat</h2>
      {/* By keyboard the same places are reached by the outline, next failure and next hit. */}
      <div class="map" role="img" aria-label={`Map of the chat: ${said}`} onClick={press}>
        {columns.map((column, index) => (
          <span key={index} class="map-column">
            {(['hits', 'failures', 'edits', 'prompts'] as const).map((name) => (
              <span key={name} class={column[name].length > 0 ? name : undefined} />
            ))}
          </span>
        ))}
      </div>
      <p class="map-words">
        <span class="prompts">{plural(prompts.length, 'prompt')}</span>
        {edits.length > 0 && <span class="edits">{plural(edits.length, 'edit')}</span>}
        {failures.length > 0 && <span class="failures">{plural(failures.length, 'failure')}</span>}
        {hits.length > 0 && <span class="hits">{plural(hits.length, 'hit')}</span>}
      </p>
    </section>
  )
}
