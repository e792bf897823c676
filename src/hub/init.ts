import type { Hub } from './client.ts'
import { SCHEMA_VERSION, steps } from './schema.ts'

const IS_MADE = `select to_regclass('cursordex.hub') is not null as made`
/** Two programs may run it at the same time. */
const ALONE = `select pg_advisory_xact_lock(hashtext('cursordex hub init'))`

/** Makes the schema, or upgrades it. @returns the version that it had; 0 if there was none */
export const initHub = (hub: Hub): Promise<number> =>
  hub.transaction(async () => {
    await hub.rows(ALONE)
    const [found] = await hub.rows<{ made: boolean }>(IS_MADE)
    const [known] =
      found?.made === true
        ? await hub.rows<{ version: number }>(`select schema_version as version from cursordex.hub`)
        : []
    const before = known?.version ?? 0
    for (const step of steps.slice(before)) await hub.change(step)
    if (before < SCHEMA_VERSION) await hub.change(`update cursordex.hub set schema_version = $1`, [SCHEMA_VERSION])
    return before
  })
