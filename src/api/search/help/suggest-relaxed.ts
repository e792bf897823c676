import type { Mirror } from '../../../mirror/open.ts'
import { countFound } from '../match/count-found.ts'
import { COUNTED_MAX } from '../match/count-messages.ts'
import type { Deadline } from '../deadline.ts'
import { findIdle, warnOfIdle, type Idle } from './find-idle.ts'
import { echo } from '../language/lex.ts'
import { printQuery } from '../language/print.ts'
import type { QueryNode } from '../language/tree.ts'
import { rarestTogether } from '../match/rarest-together.ts'
import {
  fieldOf,
  relaxations,
  withNamesApart,
  withoutExclusions,
  withoutFilters,
  withoutNodes,
  type Asked,
  type Relaxation,
} from './relaxations.ts'
import type { SearchRequest, SearchSuggestion } from '../request.ts'

export interface Relaxed {
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
}

/** Where more things are asked for, each alone and each two would be more than is worth the time. */
const THINGS_MAX = 8
const PAIRS_MAX = 8

/**
 * For a search that found nothing: which filters and words find nothing by themselves, and what would have found
 * something: without one of the things asked for, else without all of those, else without the words that are excluded, else
 * without two, else with the parts of names apart, else as many of the rarest words as stand together.
 */
export function suggestRelaxed(
  db: Mirror,
  tree: QueryNode | null,
  { filters, clock }: Pick<SearchRequest, 'filters' | 'clock'>,
  deadline: Deadline,
): Relaxed {
  const asked: Asked = { tree, filters }
  const offer = (tried: readonly Relaxation[]): readonly SearchSuggestion[] =>
    tried
      .filter((each) => isQuestion(each, asked))
      .flatMap((each) => {
        const count = countFound(db, each.tree, { filters: each.filters, clock }, deadline)
        return count === 0 ? [] : [suggestionOf(each, count)]
      })
  const once = relaxations(asked)
  const isFew = once.length <= THINGS_MAX && (once.length > 0 || tree?.kind === 'field')
  const idle = isFew ? findIdle(db, asked, clock, deadline) : nothingIdle
  const isAnyIdle = idle.nodes.size + idle.names.length > 0
  const without = withoutIdle(asked, idle)
  const attempts = [
    () => offer(once),
    () => offer(isAnyIdle ? [without] : []),
    () => offer([withoutExclusions(without)].filter((each) => each !== null)),
    () => offer(isFew ? relaxFurther(isAnyIdle ? [without] : once) : []),
    () => offer([withNamesApart({ ...asked, names: [], dropped: [] })].filter((each) => each !== null)),
    () => offer(rarestTogether(db, asked, clock, deadline)),
  ]
  const suggestions = attempts.reduce<readonly SearchSuggestion[]>(
    (found, attempt) => (found.length > 0 || deadline.isPassed() ? found : attempt()),
    [],
  )
  const isTold = suggestions.length > 0 || (isAnyIdle && tree?.kind === 'and')
  const ofWords = isTold ? [] : warnOfWords(db, asked, clock, deadline)
  return { suggestions, warnings: [...warnOfIdle(idle, asked.filters), ...ofWords] }
}

const nothingIdle: Idle = { nodes: new Set(), names: [] }

/** A query of filters alone lists all that passes them, and is no help to who asked for words. */
function isQuestion({ tree, filters }: Asked, asked: Asked): boolean {
  if (tree === null && Object.keys(filters).length === 0) return false
  return !wantsWords(asked.tree) || wantsWords(tree)
}

function wantsWords(tree: QueryNode | null): boolean {
  if (tree === null) return false
  return tree.kind === 'and' || tree.kind === 'or'
    ? tree.nodes.some(wantsWords)
    : tree.kind === 'words' || tree.kind === 'inside'
}

function withoutIdle({ tree, filters }: Asked, { nodes, names }: Idle): Relaxation {
  return {
    tree: tree === null ? null : withoutNodes(tree, nodes),
    filters: withoutFilters(filters, names),
    names,
    dropped: [...nodes],
  }
}

/** Leaves one thing more out of each, and tries none twice. */
function relaxFurther(from: readonly Relaxation[]): readonly Relaxation[] {
  const further = from.flatMap((one) =>
    relaxations(one).map((other) => ({
      ...other,
      names: [...one.names, ...other.names],
      dropped: [...one.dropped, ...other.dropped],
    })),
  )
  return [...new Map(further.map((each) => [keyOf(each), each])).values()].slice(0, PAIRS_MAX)
}

const keyOf = ({ tree, filters }: Asked): string => `${printQuery(tree)} ${Object.keys(filters).join(' ')}`

function suggestionOf({ tree, names, dropped }: Relaxation, count: number): SearchSuggestion {
  const query = printQuery(tree)
  if (names.length === 0 && !dropped.every((node) => fieldOf(node) !== null)) {
    return { text: query, reason: 'without-word', count }
  }
  const text = [...names, ...dropped.map(printQuery)].join(' ')
  const isMixed = names.length > 0 && dropped.length > 0
  return {
    text,
    reason: 'without-filter',
    count,
    ...(dropped.length === 0 ? {} : { query }),
    ...(isMixed && { filters: names }),
  }
}

/** Leaving out all that is words leaves no query to suggest: filters and fields alone are told by their number. */
function warnOfWords(
  db: Mirror,
  { tree, filters }: Asked,
  clock: SearchRequest['clock'],
  deadline: Deadline,
): readonly string[] {
  if (tree === null) return []
  const words = tree.kind === 'and' ? tree.nodes.filter(wantsWords) : [tree]
  if (words.length !== 1) return []
  const count = countFound(db, withoutNodes(tree, new Set(words)), { filters, clock }, deadline)
  const bound = count < COUNTED_MAX ? '' : 'at least '
  const [what, rest] =
    tree.kind === 'and' ? [echo(printQuery(words[0] ?? null)), 'rest leaves'] : ['the query', 'filters leave']
  return count === 0 ? [] : [`Nothing matches ${what}; without it, the ${rest} ${bound}${count} messages.`]
}
