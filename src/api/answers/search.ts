import * as z from 'zod/mini'
import { roles } from '../../model/message.ts'
import * as s from './common.ts'
import { maybeMachine, projectRef } from './projects.ts'

export const searchHit = s.named(
  'SearchHit',
  z.object({
    message: z.object({
      id: s.messageId,
      chatId: s.chatId,
      position: s.maybeCount(),
      role: z.enum(roles),
      createdAt: s.maybeTime(),
      model: s.maybeText(),
      isOrphan: s.boolean(),
    }),
    part: s.says(
      z.enum(['text', 'code', 'tool', 'thinking', 'attachment', 'plan', 'summary', 'title']),
      'The part that matches best.',
    ),
    toolName: s.maybeText(),
    chat: z.object({ id: s.chatId, title: s.text(), machine: maybeMachine }),
    project: z.nullable(projectRef),
    snippet: s.text('HTML-escaped, with matches in <mark>.'),
    score: s.amount('Higher is better, comparable only within one answer. 0 if the order is by time.'),
    matchCount: s.says(z.exactOptional(s.count()), 'With group=chat: how many messages of the chat match.'),
    matchCountIsExact: s.says(z.exactOptional(s.boolean()), 'False if matchCount is a lower bound.'),
  }),
)
export type SearchHit = s.Answer<typeof searchHit>

/** A chat that matches only a part of the query, with the best passage. */
export const relatedChat = s.named(
  'RelatedChat',
  z.extend(searchHit, {
    matched: s.texts('Words of the query that the chat has, in any form and in any message.'),
    missing: s.texts('Words that it lacks. Function words are in neither list if the query has other words.'),
  }),
)
export type RelatedChat = s.Answer<typeof relatedChat>

const searchSuggestion = z.object({
  text: s.text('The query to try, or the filter to drop: the name of the parameter, or as written in the query.'),
  reason: z.enum(['spelling', 'without-filter', 'without-word', 'operator', 'date']),
  count: s.count('How many hits it has, counted up to 1,000: that may be more.'),
  query: s.says(z.exactOptional(s.text()), 'The query to try, if the filter to drop is in the query.'),
})
export type SearchSuggestion = s.Answer<typeof searchSuggestion>

const facetValue = z.object({
  value: s.text('The value for a filter.'),
  label: s.text(),
  count: s.count(),
  countIsExact: s.boolean('False if count is a lower bound.'),
})
export type FacetValue = s.Answer<typeof facetValue>

const searchExplanation = z.object({
  query: s.text('The query as it was understood.'),
  statement: s.maybeText('The SQL statement that finds the messages; null if nothing can match.'),
  values: s.texts('Its values, in order.'),
})
export type SearchExplanation = s.Answer<typeof searchExplanation>

/** What the search gives. The route adds the page. */
const foundAnswer = z.object({
  query: s.text(),
  correctedQuery: s.maybeText(
    'The corrected query, if the original finds nothing and these are the hits of a similar one.',
  ),
  total: s.count(),
  totalIsExact: s.boolean('False if total is a lower bound: more than 1,000 hits.'),
  tookMs: s.amount(),
  items: z.array(searchHit),
  related: s.says(
    z.array(relatedChat),
    'The closest other chats, the best first: on the first page by relevance, if fewer than ten chats match the whole ' +
      'query. They are not counted in total.',
  ),
  facets: s.says(z.record(s.text(), z.array(facetValue)), 'At most 100 values of each.'),
  suggestions: z.array(searchSuggestion),
  warnings: s.texts(),
  plan: s.says(z.exactOptional(searchExplanation), 'How the query was understood and run, with explain=true.'),
})
export type SearchAnswer = s.Answer<typeof foundAnswer>

export const searchAnswer = z.extend(foundAnswer, { limit: s.count(), offset: s.count() })

/** What is found in one chat, in its order. */
export const foundInChat = z.extend(s.pageOf(searchHit), {
  totalIsExact: s.boolean('False only while messages wait to be indexed.'),
  warnings: s.texts(),
})
export type FoundInChat = s.Answer<typeof foundInChat>

const suggestion = z.object({
  kind: z.enum(['chat', 'project', 'tool', 'file', 'term']),
  text: s.text('What to show.'),
  id: s.text('Id of a chat or project, name of a tool, path of a file, or the query with the word put in.'),
  score: s.amount('Up to 1, higher is better, comparable only within one answer.'),
})
export type Suggestion = s.Answer<typeof suggestion>
export type SuggestionKind = Suggestion['kind']

export const suggestAnswer = z.object({
  items: s.says(z.array(suggestion), 'The best first.'),
  tookMs: s.amount(),
})
export type SuggestAnswer = s.Answer<typeof suggestAnswer>
