import { useEffect, useRef, useState } from 'preact/hooks'
import type { SearchAnswer, SearchHit } from '../../api/answers/search.ts'
import { api, isAbort, type QueryOf } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { Failure } from '../lib/parts.tsx'
import { Hits } from './hits.tsx'

const STEP = 40
/** The largest offset that the search accepts. */
const OFFSET_MAX = 10_000

interface MoreProps {
  /** Parameters of the search, without limit and offset. */
  readonly params: QueryOf<'/api/search'>
  readonly first: SearchAnswer
  readonly q: string
}

/** Results after the first page, 40 at a time. */
export function More({ params, first, q }: MoreProps) {
  const [items, setItems] = useState<readonly SearchHit[]>([])
  const [offset, setOffset] = useState(first.items.length)
  const [isEnd, setEnd] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const running = useRef<AbortController | null>(null)
  const [isLoading, setLoading] = useState(false)
  useEffect(() => () => running.current?.abort(), [])
  const load = async (): Promise<void> => {
    const controller = new AbortController()
    running.current = controller
    setLoading(true)
    setError(null)
    try {
      const query = { ...params, limit: STEP, offset }
      const page = await api.get('/api/search', { query, signal: controller.signal })
      // A chat that is written meanwhile may move to a later page.
      const known = new Set([...first.items, ...items].map(({ chat }) => chat.id))
      setItems([...items, ...page.items.filter(({ chat }) => !known.has(chat.id))])
      setOffset(offset + STEP)
      setEnd(page.items.length < STEP)
    } catch (caught) {
      if (isAbort(caught)) return
      setError(caught)
    }
    setLoading(false)
  }
  return (
    <>
      {items.length > 0 && <Hits items={items} q={q} />}
      {error !== null && <Failure error={error} />}
      {!isEnd && offset > OFFSET_MAX && (
        <p class="soft">These are the first {count(offset)} chats. More words or a filter show the others.</p>
      )}
      {!isEnd && offset <= OFFSET_MAX && (
        <button type="button" class="more" disabled={isLoading} onClick={() => void load()}>
          {isLoading ? 'Loading…' : 'Show more'}
        </button>
      )}
    </>
  )
}
