import type { Manifest } from '../../../archive/manifest.ts'
import { holdsAny, needlesOf } from '../../../mirror/purge/scope.ts'

type Scope = Manifest['scope']

const SCRUBBED = '(purged)'

/** What a run was asked to archive may be the very text. The same where it is not. */
export function scrubScope(scope: Scope, match: string | null): Scope {
  if (match === null || scope === null) return scope
  const needles = needlesOf(match)
  return holdsAny(JSON.stringify(scope), needles) ? scrub(scope, needles) : scope
}

function scrub(value: Scope, needles: readonly string[]): Scope {
  if (typeof value === 'string') return holdsAny(value, needles) ? SCRUBBED : value
  if (Array.isArray(value)) return value.map((each) => scrub(each, needles))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, scrub(each, needles)]))
}
