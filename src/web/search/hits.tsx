import type { RelatedChat, SearchAnswer, SearchHit, SearchSuggestion } from '../../api/answers/search.ts'
import { atLeast, chatAddress, plural, projectAddress, titleOf, visible } from '../lib/format.ts'
import { MachineTag, Snippet, When } from '../lib/parts.tsx'
import { addressWith } from './asked.ts'

/** The server counts the hits of a suggestion only so far. */
const COUNTED_MAX = 1000

const PARTS: Readonly<Record<string, string>> = {
  text: '',
  thinking: 'thinking',
  code: 'code',
  tool: 'tool call',
  attachment: 'attachment',
  plan: 'plan',
  summary: 'summary',
  title: 'title',
}

function whereOf({ part, toolName, message, chat }: SearchHit): string {
  const who = message.role === 'user' ? visible(chat.machine?.user ?? 'You') : 'Agent'
  const where = part === 'tool' && toolName !== null ? toolName : PARTS[part]
  return where === '' || where === undefined ? who : `${who} · ${where}`
}

export const Hits = ({ items, q }: { items: readonly SearchHit[]; q: string }) => (
  <ol class="hits">
    {items.map((hit) => (
      <Hit key={hit.chat.id} hit={hit} q={q} />
    ))}
  </ol>
)

function Hit({ hit, q, children }: { hit: SearchHit; q: string; children?: preact.ComponentChildren }) {
  const more = (hit.matchCount ?? 1) - 1
  const address = chatAddress(hit.chat.id, q, hit.message.id)
  return (
    <li class="hit">
      <h2>
        <a data-hit href={address}>
          {titleOf(hit.chat.title)}
        </a>
      </h2>
      <p class="hit-facts">
        {hit.project !== null && <a href={projectAddress(hit.project.id)}>{hit.project.name}</a>}
        <When at={hit.message.createdAt} />
        <span>{whereOf(hit)}</span>
        <MachineTag machine={hit.chat.machine} />
        {hit.message.isOrphan && <span class="tag">dropped by Cursor</span>}
        {more > 0 && <a href={address}>{atLeast(hit.matchCountIsExact !== false, `${more} more in this chat`)}</a>}
      </p>
      <p class="passage">
        <Snippet html={hit.snippet} />
      </p>
      {children}
    </li>
  )
}

/** Chats that do not contain all words, with the missing words struck through. */
export function Related({ items, hasHits }: { items: readonly RelatedChat[]; hasHits: boolean }) {
  if (items.length === 0) return null
  return (
    <section class="related" aria-labelledby="related-title">
      <h2 id="related-title" class="section-title">
        {hasHits ? 'Also close' : 'Closest chats'}
        <span class="soft"> · without some of the words</span>
      </h2>
      <ol class="hits">
        {items.map((hit) => (
          <Hit key={hit.chat.id} hit={hit} q={hit.matched.join(' OR ')}>
            {hit.missing.length > 0 && (
              <p class="missing">
                <span class="soft">Missing:</span>
                {hit.missing.map((word) => (
                  <del key={word}>{word}</del>
                ))}
              </p>
            )}
          </Hit>
        ))}
      </ol>
    </section>
  )
}

/** Other spellings and searches without a filter, as links; then what the answer warns of. */
export function Suggestions({ answer, url }: { answer: SearchAnswer; url: string }) {
  const isCorrected = answer.correctedQuery !== null
  if (answer.suggestions.length + answer.warnings.length === 0 && !isCorrected && !answer.isPartial) return null
  return (
    <div class="suggestions">
      {isCorrected && (
        <p>
          Showing results for <b>{answer.correctedQuery}</b>.
        </p>
      )}
      {answer.isPartial && <p class="warn">The search ran out of time. These are the results so far.</p>}
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
    const names = Object.fromEntries((one.filters ?? []).map((name) => [name, null]))
    const address = addressWith(url, { ...names, ...(one.query === undefined ? {} : { q: one.query }) })
    return <a href={address}>Search without {one.text}</a>
  }
  const lead = one.reason === 'spelling' ? 'Did you mean' : 'Search for'
  return (
    <>
      {lead} <a href={addressWith(url, { q: one.text })}>{one.text}</a>
    </>
  )
}
