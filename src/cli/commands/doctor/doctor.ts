import { statSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import { knownChats } from '../../../api/queries/chats/known-chats.ts'
import { compareLists } from '../../../api/queries/chats/compare-lists.ts'
import { examineSource, type SourceFindings } from '../../../api/queries/sources/examine-source.ts'
import { isOfThisVersion } from '../../../api/queries/snapshot.ts'
import { sumLosses } from '../../../api/queries/sources/list-losses.ts'
import { listSources } from '../../../api/queries/sources/list-sources.ts'
import { mirrorPath } from '../../../engine/data-folder.ts'
import { misconfiguredFolders } from '../../../engine/source-reasons.ts'
import { describeSalvage } from '../../../engine/writer/maintenance.ts'
import { closedBy } from '../../../indexer/open-safely/cursor-file.ts'
import { mayExist } from '../../../indexer/open-safely/file-identity.ts'
import { listSetAside, readSetAside } from '../../../indexer/open-safely/set-aside.ts'
import { discoverSources, type Places } from '../../../indexer/discover.ts'
import type { Source } from '../../../indexer/source.ts'
import type { Survey } from '../../../indexer/survey.ts'
import { openReader, type Mirror } from '../../../mirror/open.ts'
import { listSalvages } from '../../../mirror/salvage/salvage.ts'
import type { SourceId } from '../../../model/ids.ts'
import { UserError } from '../../../model/user-error.ts'
import { disabledKindsOf, type Settings } from '../../../settings.ts'
import { countText } from '../../terminal/formats.ts'
import { attentionIn } from './doctor-attention.ts'
import { renderDoctor } from './doctor-text.ts'
import type {
  Accounting,
  DoctorReport,
  SetAsideReport,
  StoreReport,
  SurveyReport,
  UnknownRows,
} from './doctor-report.ts'
import { addExamples, addJson, type JsonOption } from '../../input/options.ts'
import { printableJson } from '../../../text/printable.ts'
import type { Place, Session } from '../../session.ts'

interface DoctorOptions extends JsonOption {
  readonly shape?: string | true
  readonly all?: true
}

export function addDoctorCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const command = program
    .command('doctor')
    .option('--shape [path]', 'describe the structure of all stores or of one, without any content')
  command.option('--all', 'also list places that do not exist, and the contents of each store')
  addJson(command)
  addExamples(command, 'cursordex doctor --all', 'cursordex doctor --shape > shape.json')
  command.action(() => doctor(command, session, settingsOf(command)))
}

async function doctor(command: Command, session: Session, settings: Settings): Promise<void> {
  const { json, shape, all } = command.opts<DoctorOptions>()
  if (shape !== undefined) return session.print(`${printableJson(shapesOf(settings, shape))}\n`)
  const report = examine(settings)
  await session.print(json === true ? `${printableJson(report)}\n` : renderDoctor(report, session.screen, all === true))
  if (report.unknownChats.length === 0) return
  throw new UserError(
    'unknown-chats',
    'A store contains unknown data that looks like chats. It is not read.',
    'Please report it with the output of "cursordex doctor --shape", which contains names and sizes but no text of a chat.',
  )
}

function placesOf({ cursor: { userDirs, homes } }: Settings, disabledKinds: readonly string[]): Places {
  return { userDirs, homes, disabledKinds }
}

/** Kinds, states and structures only. Paths and messages of SQLite could name a person. */
function shapesOf(settings: Settings, shape: string | true): readonly (Pick<Survey, 'state' | 'tables'> & object)[] {
  const found =
    shape === true ? discoverSources(placesOf(settings, disabledKindsOf(settings))) : sourcesAt(resolve(shape))
  return found.flatMap((source) => {
    const survey = source.survey?.()
    return survey === undefined ? [] : [{ kind: source.kind, state: survey.state, tables: survey.tables }]
  })
}

/** A file is surveyed as a store of each format. A folder is taken for a `User` folder of Cursor. */
function sourcesAt(path: string): readonly Pick<Source, 'kind' | 'survey'>[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new UserError('no-store', `${path} does not exist.`, 'Name the file of a store.')
  const sources = discoverSources({ userDirs: [path], homes: [], disabledKinds: [] })
  if (stat.isDirectory()) return sources
  return sources.flatMap((source) => {
    const survey = source.survey?.(path)
    return survey === undefined ? [] : [{ kind: source.kind, survey: () => survey }]
  })
}

function examine(settings: Settings): DoctorReport {
  const path = mirrorPath(settings.dataDir)
  const disabled = new Set(disabledKindsOf(settings))
  const all = discoverSources(placesOf(settings, []))
  const sources = all.filter(({ kind }) => !disabled.has(kind))
  const reader = readerIfAny(path)
  try {
    const isKnown = reader !== null && isOfThisVersion(reader)
    const mirror = isKnown ? reader : null
    const stores = [
      ...sources.map((source) => examineStore(source, mirror)),
      ...(mirror === null ? [] : strayStores(mirror, new Set(sources.map(({ id }) => id)))),
    ]
    const report = {
      mirror: { path, state: reader === null ? 'missing' : isKnown ? 'read' : 'other-version' },
      stores,
      comparison: mirror === null ? null : compareLists(mirror),
      losses: mirror === null ? null : sumLosses(mirror),
      unknownChats: stores.flatMap(({ survey }) =>
        [...(survey?.unknownFamilies ?? []), ...(survey?.unknownTables ?? [])].filter(({ isChatLike }) => isChatLike),
      ),
      setAside: mirror === null ? [] : lookAside(sources, mirror, settings.cursor.userDirs),
    } as const
    // Several sources may read one file.
    const attention = new Set([
      ...attentionIn(report),
      ...disabledText(all.filter(({ kind }) => disabled.has(kind))),
      ...namedInVain(settings.cursor),
      ...(mirror === null ? [] : lossyRepairs(mirror, path)),
    ])
    return { ...report, attention: [...attention] }
  } finally {
    reader?.close()
  }
}

function readerIfAny(path: string): Mirror | null {
  try {
    return openReader(path)
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'mirror-missing') throw error
    refuseUnreadable(path)
    return null
  }
}

/** Without permission to look, "missing" would be a guess. */
function refuseUnreadable(path: string): void {
  try {
    statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UserError(
      'unreadable',
      `${path} cannot be read (${code}).`,
      'Run this as the user who owns the folder.',
      {
        cause: error,
      },
    )
  }
}

/** The files that Cursor set aside, each with what all sources of its store find in it. */
function lookAside(sources: readonly Source[], mirror: Mirror, userDirs: readonly string[]): SetAsideReport[] {
  const known = knownChats(mirror)
  const files = new Map<string, { place: string; ids: Set<string>; trouble: string | null }>()
  for (const { path, chatsIn } of sources) {
    if (chatsIn === undefined) continue
    const userDir = userDirs.find((folder) => path.startsWith(folder + sep)) ?? dirname(path)
    for (const file of listSetAside(path)) {
      const found = files.get(file) ?? { place: relative(userDir, path), ids: new Set(), trouble: null }
      const { ids, trouble } = readSetAside(file, () => chatsIn(file, known))
      for (const id of ids) found.ids.add(id)
      if (trouble !== null) found.trouble ??= trouble.detail ?? trouble.state
      files.set(file, found)
    }
  }
  return [...files].map(([path, { place, ids, trouble }]) => ({ path, place, chats: ids.size, trouble }))
}

function disabledText(sources: readonly Source[]): string[] {
  const there = sources.filter((source) => stateNow(source).state !== 'missing')
  return [...new Set(there.map(({ kind }) => kind))].map((kind) => {
    const count = there.filter((source) => source.kind === kind).length
    return `${countText(count, 'store')} of the kind ${kind} ${count === 1 ? 'is' : 'are'} not read, because sources.${kind}.enabled is false.`
  })
}

/** Folders that the user named, and where no Cursor is. */
function namedInVain({ userDirs, userDirsExplicit, homes, homesExplicit }: Settings['cursor']): string[] {
  const named = [...(userDirsExplicit ? userDirs : []), ...(homesExplicit ? homes : [])]
  return [
    ...named
      .filter((folder) => !mayExist(folder))
      .map((folder) => `${folder} does not exist. The settings name it as a folder of Cursor.`),
    ...misconfiguredFolders(userDirs),
  ]
}

const lossyRepairs = (mirror: Mirror, path: string): string[] =>
  listSalvages(mirror, path)
    .filter(({ lost, hasLostBars }) => lost + hasLostBars > 0)
    .map((report) => describeSalvage(path, report))

function examineStore(source: Source, mirror: Mirror | null): StoreReport {
  const { id, kind, path } = source
  const findings = mirror === null ? null : examineSource(mirror, id)
  const survey = source.survey?.() ?? null
  return reportOf({ id, kind, path }, findings, survey, stateOf(source, findings, survey, mirror !== null))
}

type State = Pick<StoreReport, 'state' | 'detail'>

/** What `stat` alone says of a store that was never read. */
function stateNow(source: Source): State {
  try {
    return { state: source.signature() === null ? 'missing' : 'not read yet', detail: null }
  } catch (error) {
    return closedBy(error)
  }
}

/** The state of the store now, and if it can be read, the state at the last pass: a survey does not read every page. */
function stateOf(source: Source, findings: SourceFindings | null, survey: Survey | null, hasMirror: boolean): State {
  const now = stateNow(source)
  if (survey !== null && survey.state !== 'ok') return findings?.state === 'corrupt' ? findings : survey
  if (now.state !== 'missing' && now.state !== 'not read yet') return now
  if (findings === null || findings.state === 'missing') return hasMirror || survey === null ? now : survey
  return findings
}

/** Stores that were read once and are no longer configured. Their contents are still in the mirror. */
function strayStores(mirror: Mirror, looked: ReadonlySet<SourceId>): StoreReport[] {
  return listSources(mirror)
    .filter(({ id }) => !looked.has(id))
    .map(({ id, kind, path, state, detail }) =>
      reportOf({ id, kind, path }, examineSource(mirror, id), null, { state, detail }),
    )
}

function reportOf(
  name: Pick<StoreReport, 'id' | 'kind' | 'path'>,
  findings: SourceFindings | null,
  survey: Survey | null,
  { state, detail }: State,
): StoreReport {
  const seen = survey?.state === 'ok' ? survey : null
  return {
    ...name,
    state,
    detail,
    lastSyncAt: findings?.lastSyncAt ?? null,
    chats: findings?.chats ?? null,
    messages: findings?.messages ?? null,
    issues: findings?.issues ?? [],
    pendingLoss: findings?.pendingLoss ?? null,
    accounting: findings === null ? null : accountFor(findings, seen),
    survey: seen === null ? null : surveyReport(seen),
  }
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

/**
 * The mirror knows what was read, the store knows what exists. Only a comparison of both can find rows that are not
 * accounted for.
 */
function accountFor({ rows: known }: SourceFindings, survey: Survey | null): Accounting {
  const read = known.live - known.liveIssues - known.orphans
  const { orphans, issues } = known
  const followed = survey?.tables.filter(({ use }) => use === 'rows')
  if (followed === undefined) {
    const rest = known.total - read - orphans - issues
    return {
      rows: known.total,
      read,
      orphans,
      issues,
      noise: Math.max(0, rest),
      unknown: 0,
      unaccounted: Math.min(0, rest),
    }
  }
  const rows = sumOf(followed.map((table) => table.rows ?? 0))
  const families = followed.flatMap((table) => table.families)
  const unknown = sumOf(families.filter(({ use }) => use === 'unknown').map((family) => family.rows))
  const knownNoise = sumOf(families.filter(({ use }) => use === 'noise').map((family) => family.rows))
  const noise = knownNoise + unknown + sumOf(followed.map(({ unnamedRows, privateRows }) => unnamedRows + privateRows))
  return { rows, read, orphans, issues, noise, unknown, unaccounted: rows - read - orphans - issues - noise }
}

function surveyReport({ tables }: Survey): SurveyReport {
  const knownTables = tables.filter(({ use }) => use !== 'unknown')
  const families = knownTables.flatMap((table) => table.families.map((family) => ({ ...family, table: table.name })))
  const unknownTables = tables.filter(({ use }) => use === 'unknown')
  return {
    tables: tables.map(({ name, use, rows, bytes, unnamedRows, privateRows }) => ({
      name,
      use,
      rows,
      bytes,
      unnamedRows,
      privateRows,
    })),
    families: families
      .filter(({ use }) => use !== 'unknown')
      .map(({ table, name, use, rows, bytes }) => ({ table, family: name, use, rows, bytes })),
    unknownFamilies: families
      .filter(({ use }) => use === 'unknown')
      .map(({ table, name, rows, bytes, isChatLike }): UnknownRows => ({
        table,
        family: name,
        rows,
        bytes,
        isChatLike,
      })),
    unknownTables: unknownTables.map(({ name, rows, bytes, isChatLike, families: inside }) => ({
      table: name,
      family: null,
      rows,
      bytes,
      isChatLike: isChatLike || inside.some((family) => family.isChatLike),
    })),
    unknownVersions: families
      .filter(({ unknownVersions }) => unknownVersions.length > 0)
      .map(({ name, unknownVersions }) => ({ family: name, versions: unknownVersions })),
  }
}
