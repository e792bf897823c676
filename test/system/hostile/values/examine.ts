import type { Status, SyncOutcome } from '../../../../src/api/answers/status.ts'
import { issueReasons } from '../../../../src/model/issue.ts'
import { Chance } from '../../../helpers/cursor.ts'
import { World } from '../../../helpers/world.ts'
import { askEverything, type Asked } from './ask-everything.ts'
import type { Samples } from './samples.ts'
import { writeHostile, type Written } from './write-hostile.ts'

export interface Examined {
  readonly rows: number
  readonly messages: number
  readonly issues: number
  readonly answers: number
  /** Faults, as sentences. */
  readonly faults: readonly string[]
}

const nothing = { rows: 0, messages: 0, issues: 0, answers: 0, faults: [] }

/** Homes of hostile rows, one after the other. The same seed gives the same homes. */
export async function examineHomes(
  seed: string,
  count: number,
  samples: Samples,
  isThorough = false,
): Promise<Examined> {
  let sum: Examined = nothing
  for (let at = 0; at < count; at += 1) {
    const one = await examineHome(`${seed} ${at}`, samples, isThorough)
    sum = {
      rows: sum.rows + one.rows,
      messages: sum.messages + one.messages,
      issues: sum.issues + one.issues,
      answers: sum.answers + one.answers,
      faults: [...sum.faults, ...one.faults],
    }
  }
  return sum
}

/** Writes a home, reads it twice, and requests everything that was read. */
async function examineHome(seed: string, samples: Samples, isThorough: boolean): Promise<Examined> {
  const world = await World.open()
  try {
    const written = writeHostile(world.home, world.cursorHome, samples, new Chance(seed))
    const read = await readTwice(world)
    const asked = await askEverything(world, isThorough)
    const { issues } = await world.get<Status>('/api/status')
    const found = [...read, ...unsound(world, written, asked), ...asked.faults]
    return {
      rows: written.rows,
      messages: asked.messages,
      issues: Object.values(issues).reduce((sum, count) => sum + count, 0),
      answers: asked.answers,
      faults: found.map((fault) => `seed "${seed}": ${fault}`),
    }
  } catch (error) {
    return { ...nothing, faults: [`seed "${seed}": thrown: ${error instanceof Error ? error.stack : String(error)}`] }
  } finally {
    await world.remove()
  }
}

/** Every row is read or reported, and a second pass changes nothing. */
async function readTwice(world: World): Promise<string[]> {
  await world.sync()
  const { sources, issues, coverage } = await world.get<Status>('/api/status')
  const bad = sources.filter(
    ({ state, kind }) => state !== 'ok' && !(kind === 'workspace-items' && state === 'missing'),
  )
  const again = await world.post<SyncOutcome>('/api/sync', { full: true })
  const { rows, read, issues: unread, noise } = coverage
  return [
    ...bad.map(({ kind, state }) => `${kind} is ${state}`),
    ...(rows === read + unread + noise
      ? []
      : [`of the rows some are neither read nor an issue: ${JSON.stringify(coverage)}`]),
    ...Object.keys(issues).flatMap((reason) =>
      issueReasons.includes(reason as 'bad-json') ? [] : [`${reason} is no reason`],
    ),
    ...(again.added + again.changed + again.gone === 0 ? [] : [`a second pass found ${JSON.stringify(again)}`]),
    ...(Object.hasOwn(Object.prototype, 'polluted') ? ['every object has a new field'] : []),
  ]
}

/** Neighbours of hostile rows that were not read, and what the mirror itself finds wrong. */
function unsound({ mirror }: World, { neighbours }: Written, { texts }: Asked): string[] {
  const checks = [mirror.pragma('integrity_check'), mirror.pragma('foreign_key_check')] as unknown[][]
  const findings = checks.flat().map((row) => JSON.stringify(row))
  return [
    ...findings.filter((row) => row !== '{"integrity_check":"ok"}'),
    ...neighbours.filter((text) => !texts.has(text)).map((text) => `"${text}" was not read`),
    ...[...texts].filter((text) => !text.isWellFormed()).map(() => 'a text contains half a surrogate pair'),
  ]
}
