import { filterNames } from '../../shared/filters.ts'
import { useLocation } from 'preact-iso'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SearchAnswer } from '../../api/answers/search.ts'
import { ApiError, type QueryOf } from '../lib/api.ts'
import { atLeast, plural } from '../lib/format.ts'
import { useData, useKeys, useTitle } from '../lib/hooks.ts'
import { Failure, Loading, Notice } from '../lib/parts.tsx'
import { addressWith, type Asked, askedWhileTyping, hasFilters, isTyping, readAsked } from './asked.ts'
import { Chips, Facets } from './facets.tsx'
import { Hits, Related, Suggestions } from './hits.tsx'
import { More } from './more.tsx'
import { Start } from './start.tsx'

const PAGE = 20
const FACET_NAMES: QueryOf<'/api/search'>['facets'] = ['project', 'role', 'part', 'tool', 'model', 'machine', 'month']
/** Facets cost several times a search, so they wait until typing rests. */
const FACETS_PAUSE_MS = 150

export function SearchScreen() {
  const { url } = useLocation()
  const asked = readAsked(url)
  useTitle(asked.q)
  useHitKeys()
  const isEmpty = asked.q.trim() === '' && !hasFilters(asked)
  return (
    <main id="main" class="search-screen">
      {isEmpty ? <Start /> : <Results asked={asked} url={url} />}
    </main>
  )
}

function useAnswer(asked: Asked) {
  const q = isTyping.value ? askedWhileTyping(asked.q) : asked.q
  const params = { q, ...asked.filters, from: asked.from, to: asked.to } as QueryOf<'/api/search'>
  const sort = asked.sort === '' ? null : (asked.sort as 'newest')
  const grouped = { ...params, sort, group: 'chat' as const }
  const hits = useData('/api/search', { query: { ...grouped, limit: PAGE } })
  const facetsPath = JSON.stringify(params)
  // The pause runs while the results are on their way.
  const [rested, setRested] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setRested(facetsPath), isTyping.peek() ? FACETS_PAUSE_MS : 0)
    return () => clearTimeout(timer)
  }, [facetsPath])
  const wanted = useRef<string | null>(null)
  if (!hits.isLoading && rested === facetsPath) wanted.current = facetsPath
  const facets = useData(wanted.current === null ? null : '/api/search', {
    query: { ...params, facets: FACET_NAMES, limit: 1 },
  })
  return { hits, facets, grouped }
}

function Results({ asked, url }: { asked: Asked; url: string }) {
  const { hits, facets, grouped } = useAnswer(asked)
  const answer = hits.data
  return (
    <div class="results">
      <Facets answer={facets.data} asked={asked} url={url} />
      <section class="found" aria-label="Results" aria-busy={hits.isLoading}>
        <Chips asked={asked} url={url} answer={facets.data} />
        {answer !== null && <Summary answer={answer} asked={asked} url={url} />}
        {answer === null && hits.error === null && <Loading what="results" />}
        {hits.error !== null && <SearchFailure error={hits.error} retry={hits.reload} />}
        {answer !== null && hits.error === null && (
          <>
            <Suggestions answer={answer} url={url} />
            {answer.items.length === 0 && <NothingFound answer={answer} asked={asked} url={url} />}
            <Hits items={answer.items} q={asked.q} />
            {answer.total > answer.items.length && <More key={hits.path} params={grouped} first={answer} q={asked.q} />}
            <Related items={answer.related} hasHits={answer.items.length > 0} />
          </>
        )}
      </section>
    </div>
  )
}

const SORTS = [
  ['', 'Best first'],
  ['newest', 'Newest first'],
  ['oldest', 'Oldest first'],
] as const

function Summary({ answer, asked, url }: { answer: SearchAnswer; asked: Asked; url: string }) {
  const { route } = useLocation()
  const total = atLeast(answer.totalIsExact, plural(answer.total, 'chat'))
  return (
    <div class="summary">
      <h1 class="summary-text" aria-live="polite">
        {answer.items.length === 0 ? 'No exact match' : total}
        <span class="soft"> · {Math.round(answer.tookMs)} ms</span>
      </h1>
      <label class="sort">
        <span class="hidden">Order</span>
        <select value={asked.sort} onChange={(event) => route(addressWith(url, { sort: event.currentTarget.value }))}>
          {SORTS.map(([value, name]) => (
            <option key={value} value={value} selected={value === asked.sort}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

function NothingFound({ answer, asked, url }: { answer: SearchAnswer; asked: Asked; url: string }) {
  if (answer.related.length > 0 || answer.suggestions.length > 0) return null
  return (
    <Notice title="Nothing found">
      <p>
        No chat contains <b class="quoted">{asked.q === '' ? 'this selection' : asked.q}</b>. Fewer or other words may
        help: words are found by their parts, and <code>conn*</code> finds beginnings.
      </p>
      {hasFilters(asked) && (
        <p>
          <a href={addressWith(url, NO_FILTERS)}>Search without the filters</a>
        </p>
      )}
    </Notice>
  )
}

const NO_FILTERS = Object.fromEntries(filterNames.map((name) => [name, null]))

function SearchFailure({ error, retry }: { error: unknown; retry: () => void }) {
  if (!(error instanceof ApiError) || error.code !== 'deadline') return <Failure error={error} retry={retry} />
  return (
    <Notice title="The search ran out of time">
      <p>It found nothing before its deadline. Rarer words, a project or a date make it faster.</p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </Notice>
  )
}

/** `j`, `k` and arrows move the focus, so that Enter opens what is focused and screen readers follow. */
function useHitKeys(): void {
  useKeys((key) => {
    const step = key === 'j' || key === 'ArrowDown' ? 1 : key === 'k' || key === 'ArrowUp' ? -1 : 0
    if (step === 0) return false
    const hits = [...document.querySelectorAll<HTMLElement>('[data-hit]')]
    const at = hits.findIndex((hit) => hit === document.activeElement)
    if (at < 0 && step < 0) return false
    if (at === 0 && step < 0) {
      document.querySelector<HTMLElement>('.search-field input')?.focus()
      return true
    }
    const next = hits[Math.min(hits.length - 1, at + step)]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
    return next !== undefined
  })
}
