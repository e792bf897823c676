import type { Manifest } from '../../../archive/manifest.ts'
import { holdsAny, needlesOf } from '../../../mirror/purge/scope.ts'

type Scope = Manifest['scope']

/** The scope of a run without the text that is purged. The same object if the scope does not contain it. */
export function scrubScope(scope: Scope, match: string | null): Scope {
  if (match === null || scope === null) return scope
  const needles = needlesOf(match)
  const json = JSON.stringify(scope)
  if (!holdsAny(json, needles)) return scope
  return JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' && holdsAny(value, needles) ? '(purged)' : value,
  ) as Scope
}
