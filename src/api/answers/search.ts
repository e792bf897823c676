import * as z from 'zod/mini'
import { roles } from '../../model/message.ts'
import {
  amount,
  chatId,
  count,
  maybeCount,
  maybeText,
  maybeTime,
  messageId,
  named,
  pageOf,
  says,
  text,
  texts,
  boolean,
  type Answer,
} from './common.ts'
import { maybeMachine, projectRef } from './projects.ts'

export const searchHit = named(
  'SearchHit',
  z.object({
    message: z.object({
      id: messageId,
      chatId,
      position: maybeCount,
      role: z.enum(roles),
      createdAt: maybeTime,
      model: maybeText,
      isOrphan: boolean,
    }),
    part: says(
      z.enum(['text', 'code', 'tool', 'thinking', 'attachment', 'plan', 'summary', 'title']),
      'The part that matches best.',
    ),
    toolName: maybeText,
    chat: z.object({ id: chatId, title: text, machine: maybeMachine }),
    project: z.nullable(projectRef),
    snippet: says(text, 'HTML-escaped, with matches in <mark>.'),
    score: says(amount, 'Higher is better, comparable only within one answer. 0 if the order is by time.'),
    matchCount: says(z.exactOptional(count), 'With group=chat: how many messages of the chat match.'),
    matchCountIsExact: says(z.exactOptional(boolean), 'False if matchCount is a lower bound.'),
  }),
)
export type SearchHit = Answer<typeof searchHit>

/** A chat that matches only a part of the query, with the best passage. */
export const relatedChat = named(
  'RelatedChat',
  z.extend(searchHit, {
    matched: says(texts, 'Words of the query that the chat has, in any form and in any message.'),
    missing: says(texts, 'Words that it lacks. Function words are in neither list if the query has other words.'),
  }),
)
export type RelatedChat = Answer<typeof relatedChat>

const searchSuggestion = z.object({
  text: says(text, 'The query to try, or the filter to drop: the name of the parameter, or as written in the query.'),
  reason: z.enum(['spelling', 'without-filter', 'without-word', 'operator', 'date']),
  count: says(count, 'How many hits it has, counted up to 1,000: that may be more.'),
  query: says(z.exactOptional(text), 'The query to try, if the filter to drop is in the query.'),
})
export type SearchSuggestion = Answer<typeof searchSuggestion>

const facetValue = z.object({
  value: says(text, 'The value for a filter.'),
  label: text,
  count,
  countIsExact: says(boolean, 'False if count is a lower bound.'),
})
export type FacetValue = Answer<typeof facetValue>

const searchExplanation = z.object({
  query: says(text, 'The query as it was understood.'),
  statement: says(maybeText, 'The SQL statement that finds the messages; null if nothing can match.'),
  values: says(texts, 'Its values, in order.'),
})
export type SearchExplanation = Answer<typeof searchExplanation>

/** What the search gives. The route adds the page. */
const foundAnswer = z.object({
  query: text,
  correctedQuery: says(
    maybeText,
    'The corrected query, if the original finds nothing and these are the hits of a similar one.',
  ),
  total: count,
  totalIsExact: says(boolean, 'False if total is a lower bound: more than 1,000 hits.'),
  tookMs: amount,
  items: z.array(searchHit),
  related: says(
    z.array(relatedChat),
    'The closest other chats, the best first: on the first page by relevance, if fewer than ten chats match the whole ' +
      'query. They are not counted in total.',
  ),
  facets: says(z.record(text, z.array(facetValue)), 'At most 100 values of each.'),
  suggestions: z.array(searchSuggestion),
  warnings: texts,
  plan: says(z.exactOptional(searchExplanation), 'How the query was understood and run, with explain=true.'),
})
export type SearchAnswer = Answer<typeof foundAnswer>

export const searchAnswer = z.extend(foundAnswer, { limit: count, offset: count })

/** What is found in one chat, in its order. */
export const foundInChat = z.extend(pageOf(searchHit), {
  totalIsExact: says(boolean, 'False only while messages wait to be indexed.'),
  warnings: texts,
})
export type FoundInChat = Answer<typeof foundInChat>

const suggestion = z.object({
  kind: z.enum(['chat', 'project', 'tool', 'file', 'term']),
  text: says(text, 'What to show.'),
  id: says(text, 'Id of a chat or project, name of a tool, path of a file, or the query with the word put in.'),
  score: says(amount, 'Up to 1, higher is better, comparable only within one answer.'),
})
export type Suggestion = Answer<typeof suggestion>
export type SuggestionKind = Suggestion['kind']

export const suggestAnswer = z.object({
  items: says(z.array(suggestion), 'The best first.'),
  tookMs: amount,
})
export type SuggestAnswer = Answer<typeof suggestAnswer>
