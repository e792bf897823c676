import { join } from 'node:path'
import { issueReasons } from '../../../../src/model/issue.ts'
import { Chance, CursorHome } from '../../../helpers/cursor.ts'
import { Indexer } from '../../../helpers/in-process.ts'
import { askEverything } from './ask-everything.ts'
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
export async function examineHome(seed: string, samples: Samples, isThorough = false): Promise<Examined> {
  const home = new CursorHome()
  const cursor = join(home.root, '.cursor')
  const indexer = new Indexer(home.userDir)
  indexer.homes = [cursor]
  try {
    const written = writeHostile(home, cursor, samples, new Chance(seed))
    const faults = [...readTwice(indexer), ...missing(indexer, written), ...unsound(indexer)]
    const asked = await askEverything(indexer.path, isThorough)
    const issues = Number(indexer.mirror.prepare('select count(*) from row_issues').pluck().get())
    const found = [...faults, ...asked.faults].map((fault) => `seed "${seed}": ${fault}`)
    return { rows: written.rows, messages: asked.messages, issues, answers: asked.answers, faults: found }
  } catch (error) {
    return { ...nothing, faults: [`seed "${seed}": thrown: ${error instanceof Error ? error.stack : String(error)}`] }
  } finally {
    indexer.remove()
    home.remove()
  }
}

function readTwice(indexer: Indexer): string[] {
  const { ends } = indexer.pass()
  const bad = ends.filter(({ state, kind }) => state !== 'ok' && !(kind === 'workspace-items' && state === 'missing'))
  const again = indexer.pass('full')
  const moved = again.added + again.changed + again.gone
  return [
    ...bad.map(({ kind, state, detail }) => `${kind} is ${state}: ${detail}`),
    ...(moved === 0 ? [] : [`a second pass added ${again.added}, changed ${again.changed}, lost ${again.gone}`]),
    ...(Object.hasOwn(Object.prototype, 'polluted') ? ['every object has a new field'] : []),
  ]
}

/** Rows that are neither read nor reported, and neighbours that were not read. */
function missing(indexer: Indexer, { keys, neighbours }: Written): string[] {
  const column = (sql: string): Set<unknown> => new Set(indexer.mirror.prepare(sql).pluck().all())
  const known = column(`select kind || ' ' || key from source_rows join sources on num = source
    union select kind || ' ' || key from row_issues join sources on num = source`)
  const held = new Set<unknown>()
  for (const parts of column('select parts from bodies')) {
    for (const part of JSON.parse(String(parts)) as { text?: unknown }[]) held.add(part.text)
  }
  const reasons = [...column('select distinct reason from row_issues')]
  return [
    ...keys.filter((key) => !known.has(key)).map((key) => `${key} is neither read nor an issue`),
    ...neighbours.filter((text) => !held.has(text)).map((text) => `"${text}" was not read`),
    ...reasons.flatMap((reason) =>
      issueReasons.includes(reason as 'bad-json') ? [] : [`${String(reason)} is no reason`],
    ),
  ]
}

function unsound({ mirror }: Indexer): string[] {
  const checks = [mirror.pragma('integrity_check'), mirror.pragma('foreign_key_check')] as unknown[][]
  const findings = checks
    .flat()
    .map((row) => JSON.stringify(row))
    .filter((row) => row !== '{"integrity_check":"ok"}')
  mirror.exec(`insert into message_terms (message_terms, rank) values ('integrity-check', 1)`)
  const ill = mirror.prepare<[], { parts: string }>('select parts from bodies').all()
  return [
    ...findings,
    ...ill.filter(({ parts }) => !parts.isWellFormed()).map(() => 'a body contains half a surrogate pair'),
  ]
}
