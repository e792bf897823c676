import type { SearchAnswer, SearchSuggestion } from '../../api/answers/search.ts'
import { atLeast, plural } from '../lib/format.ts'
import { status } from '../lib/live.ts'
import { Notice } from '../lib/parts.tsx'
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

/** Why nothing is listed, and what would help. */
export function Nothing({ answer, asked, url }: { answer: SearchAnswer | null; asked: Asked; url: string }) {
  if (answer === null && !hasFilters(asked)) return <NoChats />
  if (answer !== null && answer.related.length + answer.suggestions.length > 0) return null
  return (
    <Notice title="Nothing found">
      <p>
        No chat contains <b>{asked.q === '' ? 'this selection' : asked.q}</b>. Fewer or other words may help: words are
        found by their parts, and <code>conn*</code> finds beginnings.
      </p>
      {hasFilters(asked) && (
        <p>
          <a href={listAddress(url, NO_FILTERS)}>Search without the filters</a>
        </p>
      )}
    </Notice>
  )
}
