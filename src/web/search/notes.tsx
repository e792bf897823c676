import { useEffect, useState } from 'preact/hooks'
import type { SearchAnswer, SearchSuggestion } from '../../api/answers/search.ts'
import { ApiError } from '../lib/api.ts'
import { atLeast, plural } from '../lib/format.ts'
import { useData } from '../lib/hooks.ts'
import { status } from '../lib/live.ts'
import { Failure, Notice } from '../lib/parts.tsx'
import { type Asked, hasFilters, listAddress, NO_FILTERS } from './asked.ts'

// What stands above the rows, or in their place.

/** The server counts the hits of a suggestion only so far. */
const COUNTED_MAX = 1000

/** Other spellings and searches without a filter, as links; then what the answer warns of. */
export function Suggestions({ answer, url }: { answer: SearchAnswer; url: string }) {
  const isCorrected = answer.correctedQuery !== null
  if (answer.suggestions.length + answer.warnings.length === 0 && !isCorrected) return null
  return (
    <div class="suggestions">
      {isCorrected && (
        <p>
          Showing results for <b>{answer.correctedQuery}</b>.
        </p>
      )}
      {answer.suggestions.map((one) => (
        <p key={`${one.reason} ${one.text}`}>
          <SuggestionLink one={one} url={url} />{' '}
          <span class="soft">{atLeast(one.count < COUNTED_MAX, plural(one.count, 'hit'))}</span>
        </p>
      ))}
      {answer.warnings.map((warning) => (
        <p key={warning} class="soft">
          {warning}
        </p>
      ))}
    </div>
  )
}

function SuggestionLink({ one, url }: { one: SearchSuggestion; url: string }) {
  if (one.reason === 'without-filter') {
    const address = listAddress(url, one.query === undefined ? { [one.text]: null } : { q: one.query })
    return <a href={address}>Search without {one.text}</a>
  }
  const lead = one.reason === 'spelling' ? 'Did you mean' : 'Search for'
  return (
    <>
      {lead} <a href={listAddress(url, { q: one.text })}>{one.text}</a>
    </>
  )
}

const SEEN = 'cursordex-seen'

/** When this page was last looked at; a visit on the same hour is the same visit. */
function lastVisit(): string | null {
  const stored = localStorage.getItem(SEEN)
  return stored !== null && !Number.isNaN(Date.parse(stored)) ? stored : null
}

function NoChats() {
  const state = status.value?.state
  if (state === 'indexing' || state === 'starting') {
    return (
      <Notice title="Your chats are being read">
        <p>The newest come first. They appear here by themselves.</p>
      </Notice>
    )
  }
  return (
    <Notice title="No chats yet">
      <p>
        No chat was found in Cursor's storage on this machine. The <a href="/settings">settings</a> list where it
        looked. To see a sample, run <code>cursordex demo</code>.
      </p>
    </Notice>
  )
}

/** What happened since the last visit. */
export function Away() {
  const [since] = useState(lastVisit)
  const losses = useData('/api/losses', { query: { from: since, limit: 1 } })
  const failed = status.value?.archives.failed ?? []
  useEffect(() => {
    const save = (): void => localStorage.setItem(SEEN, new Date().toISOString())
    addEventListener('pagehide', save)
    return () => removeEventListener('pagehide', save)
  }, [])
  const lost = losses.data?.total ?? 0
  if (lost === 0 && failed.length === 0) return null
  return (
    <section class="away" aria-label="While you were away">
      {lost > 0 && (
        <p>
          Cursor deleted <a href="/losses">{plural(lost, 'message or chat', 'messages and chats')}</a>
          {since === null ? '.' : ' since your last visit.'} They are still here.
        </p>
      )}
      {failed.map(({ job, error }) => (
        <p key={job} class="warn">
          The archive <b>{job}</b> failed: {error} <a href="/archives">Archives</a>
        </p>
      ))}
    </section>
  )
}

/** Why nothing is listed, and what would help. */
export function Nothing({ answer, asked, url }: { answer: SearchAnswer | null; asked: Asked; url: string }) {
  if (answer === null && !hasFilters(asked)) return <NoChats />
  if (answer !== null && answer.related.length + answer.suggestions.length > 0) return null
  return (
    <Notice title="Nothing found">
      <p>
        No chat contains <b class="quoted">{asked.q === '' ? 'this selection' : asked.q}</b>. Fewer or other words may
        help: words are found by their parts, and <code>conn*</code> finds beginnings.
      </p>
      {hasFilters(asked) && (
        <p>
          <a href={listAddress(url, NO_FILTERS)}>Search without the filters</a>
        </p>
      )}
    </Notice>
  )
}

export function ListFailure({ error, retry }: { error: unknown; retry: () => void }) {
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
