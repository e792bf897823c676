import * as z from 'zod/mini'
import * as s from './common.ts'

/** Tokens that Cursor recorded in the row of a message: only for the last answer of a turn, until early 2026. */
export const recorded = z.object({ input: s.maybeCount(), output: s.maybeCount(), messages: s.count() })

/** Estimated tokens of the visible text, each message once, for messages without a record. */
export const estimated = z.object({ input: s.count(), output: s.count(), messages: s.count() })

const imported = z.object({
  input: s.maybeCount(),
  output: s.maybeCount(),
  cacheRead: s.maybeCount(),
  cacheWrite: s.maybeCount(),
  cents: s.maybeAmount(),
  total: s.maybeCount('The total in the row, or else the sum of its parts.'),
  events: s.count(),
})

/** How full the context of each chat was at its last activity. This is a state, not a sum of used tokens. */
const snapshot = z.object({ tokens: s.count(), chats: s.count() })

/** The list price of recorded tokens, without discounts for cached tokens. */
const priced = z.object({
  cents: s.maybeAmount('Null if no message has a known price.'),
  messages: s.count(),
  unpriced: s.count('Recorded messages without a known price, or with only input or only output recorded.'),
})

/** Every message of a thread is recorded, estimated or unknown. */
const coverage = z.object({ messages: s.count(), recorded: s.count(), estimated: s.count(), unknown: s.count() })

export const tokenSources = s.named(
  'TokenSources',
  z.object({
    recorded: s.says(z.nullable(recorded), 'Tokens that Cursor recorded in the row of a message.'),
    imported: s.says(z.nullable(imported), 'Sums over rows of imported files.'),
    estimated: s.says(z.nullable(estimated), 'Of the visible text, each message once, for messages without a record.'),
    contextSnapshot: s.says(z.nullable(snapshot), 'How full the context of each chat was at its last activity.'),
    recordedCents: s.maybeAmount(),
    priced: s.says(z.nullable(priced), 'The list price of recorded tokens, without discounts for cached tokens.'),
    coverage: s.says(coverage, 'Every message of a thread is recorded, estimated or unknown.'),
  }),
)
/** Numbers by source, which are never added to each other. Null means unknown, not 0. */
export type TokenSources = s.Answer<typeof tokenSources>

const tokensRow = z.extend(tokenSources, {
  key: s.maybeText("An id, the first date of a bucket, or a model's name; null if there is none."),
  keys: s.says(
    z.exactOptional(z.array(s.maybeText())),
    'With several groupings, the key of each. key is the first of them.',
  ),
  label: s.text('The key in readable form.'),
})
export type TokensRow = s.Answer<typeof tokensRow>

export const tokensAnswer = z.object({
  rows: s.says(z.array(tokensRow), 'By time the oldest first, else the one with the most messages.'),
  rowsTotal: s.count('How many rows there are, including those beyond the limit.'),
  omitted: s.maybeText(
    'What the limit left out, as a sentence: the oldest rows by time, else those with the fewest messages.',
  ),
  totals: s.says(tokenSources, 'Of all rows, also those beyond the limit.'),
  undated: s.says(
    z.object({ messages: s.count() }),
    'Messages without any time. They are in the totals, and in a row without a key, only if neither from nor to is given.',
  ),
  coverage,
  imports: s.says(
    z.nullable(z.object({ events: s.count(), matched: s.count(), unmatched: s.count() })),
    'Rows of imported files; null if there are none.',
  ),
  prices: z.nullable(z.object({ source: s.text(), asOf: s.text() })),
  notes: s.texts('Explanations of the numbers, one sentence each.'),
})
export type TokensAnswer = s.Answer<typeof tokensAnswer>

export const importAnswer = z.object({
  rows: s.count('The sum of matched, unmatched and already.'),
  matched: s.count('New rows whose chat was found.'),
  unmatched: s.count('New rows that no chat, or several chats, fit in time and model.'),
  already: s.count('Rows that were already imported from an earlier file.'),
  rematched: s.count('Rows of earlier files whose chat was found only now.'),
})
export type ImportAnswer = s.Answer<typeof importAnswer>
