import * as z from 'zod/mini'
import {
  count,
  maybeAmount,
  maybeCount,
  maybeText,
  maybeTime,
  named,
  says,
  text,
  texts,
  type Answer,
} from './common.ts'

/** Tokens that Cursor recorded in the row of a message: only for the last answer of a turn, until early 2026. */
export const recorded = z.object({ input: maybeCount, output: maybeCount, messages: count })

/** Estimated tokens of the visible text, each message once, for messages without a record. */
export const estimated = z.object({ input: count, output: count, messages: count })

const imported = z.object({
  input: maybeCount,
  output: maybeCount,
  cacheRead: maybeCount,
  cacheWrite: maybeCount,
  cents: maybeAmount,
  total: says(maybeCount, 'The total in the row, or else the sum of its parts.'),
  events: count,
})
/** Sums over rows of imported files; null if no row has the number. */
export type ImportedTokens = Answer<typeof imported>

/** How full the context of each chat was at its last activity. This is a state, not a sum of used tokens. */
const snapshot = z.object({ tokens: count, chats: count })

/** The list price of recorded tokens, without discounts for cached tokens. */
const priced = z.object({
  cents: says(maybeAmount, 'Null if no message has a known price.'),
  messages: count,
  unpriced: says(count, 'Recorded messages without a known price, or with only input or only output recorded.'),
})

/** Every message of a thread is recorded, estimated or unknown. */
const coverage = z.object({ messages: count, recorded: count, estimated: count, unknown: count })

export const tokenSources = named(
  'TokenSources',
  z.object({
    recorded: says(z.nullable(recorded), 'Tokens that Cursor recorded in the row of a message.'),
    imported: says(z.nullable(imported), 'Sums over rows of imported files.'),
    estimated: says(z.nullable(estimated), 'Of the visible text, each message once, for messages without a record.'),
    contextSnapshot: says(z.nullable(snapshot), 'How full the context of each chat was at its last activity.'),
    recordedCents: maybeAmount,
    priced: says(z.nullable(priced), 'The list price of recorded tokens, without discounts for cached tokens.'),
    coverage: says(coverage, 'Every message of a thread is recorded, estimated or unknown.'),
  }),
)
/** Numbers by source, which are never added to each other. Null means unknown, not 0. */
export type TokenSources = Answer<typeof tokenSources>

const tokensRow = z.extend(tokenSources, {
  key: says(maybeText, "An id, the first date of a bucket, or a model's name; null if there is none."),
  keys: says(z.exactOptional(z.array(maybeText)), 'With several groupings, the key of each. key is the first of them.'),
  label: says(text, 'The key in readable form.'),
})
export type TokensRow = Answer<typeof tokensRow>

export const tokensAnswer = z.object({
  rows: says(z.array(tokensRow), 'By time the oldest first, else the one with the most messages.'),
  rowsTotal: says(count, 'How many rows there are, including those beyond the limit.'),
  omitted: says(
    z.nullable(
      z.object({
        rows: count,
        from: says(maybeText, 'The first date of the rows that were left out, if rows are by time.'),
        to: says(maybeText, 'The last one.'),
        note: says(text, 'The same as a sentence.'),
      }),
    ),
    'What the limit left out: the oldest rows by time, else those with the fewest messages. Null if nothing.',
  ),
  totals: says(tokenSources, 'Of all rows, also those beyond the limit.'),
  undated: says(
    z.object({ messages: count }),
    'Messages without any time. They are in the totals, and in a row without a key, only if neither from nor to is given.',
  ),
  coverage,
  imports: says(
    z.nullable(z.object({ events: count, matched: count, unmatched: count })),
    'Rows of imported files; null if there are none.',
  ),
  prices: z.nullable(z.object({ source: text, asOf: text })),
  notes: says(texts, 'Explanations of the numbers, one sentence each.'),
})
export type TokensAnswer = Answer<typeof tokensAnswer>

export const importAnswer = z.object({
  rows: says(count, 'The sum of matched, unmatched and already.'),
  matched: says(count, 'New rows whose chat was found.'),
  unmatched: count,
  already: says(count, 'Rows that were already imported from an earlier file.'),
  rematched: says(count, 'Rows of earlier files whose chat was found only now.'),
  unknownColumns: texts,
  firstUnmatched: z.array(
    z.object({
      line: count,
      at: maybeTime,
      model: maybeText,
      reason: z.enum(['no-answer-near', 'other-model', 'several-chats', 'several-users']),
    }),
  ),
})
export type ImportAnswer = Answer<typeof importAnswer>
