import { statSync } from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import type { Command } from 'commander'
import type { LossCounts } from '../../../api/answers/chats.ts'
import { knownChats } from '../../../api/queries/chats/known-chats.ts'
import { isOfThisVersion } from '../../../mirror/upgrade.ts'
import { examineSource, type SourceFindings } from '../../../api/queries/sources/examine-source.ts'
import { sumLosses } from '../../../api/queries/sources/list-losses.ts'
import { listSources } from '../../../api/queries/sources/list-sources.ts'
import { mirrorPath } from '../../../engine/data-folder.ts'
import { misconfiguredFolders } from '../../../engine/source-reasons.ts'
import { discoverSources } from '../../../indexer/discover.ts'
import { closedBy, mayExist } from '../../../indexer/open-safely/cursor-file.ts'
import type { Source } from '../../../indexer/source.ts'
import type { UnknownRows } from '../../../indexer/sources/composer-kv/read-unknown.ts'
import { listSetAside, readSetAside } from '../../../indexer/open-safely/set-aside.ts'
import { isDamage, mirrorDamaged } from '../../../mirror/damage/find-damage.ts'
import { openReader, type Mirror } from '../../../mirror/open.ts'
import { listSalvages } from '../../../mirror/damage/replace-mirror.ts'
import type { SourceId } from '../../../model/ids.ts'
import { UserError } from '../../../model/user-error.ts'
import { disabledKindsOf, type Settings } from '../../../settings.ts'
import { printableJson } from '../../../text/printable.ts'
import { addJson, addExamples, type Options } from '../../input/options.ts'
import type { Place, Session } from '../../session.ts'
import { attentionIn, renderDoctor } from './doctor-text.ts'

export interface StoreReport extends Pick<SourceFindings, 'issues' | 'pendingLoss'> {
  readonly id: string
  readonly kind: string
  readonly path: string
  readonly state: string
  readonly detail: string | null
  readonly lastSyncAt: string | null
  /** What the mirror has of it. Null if it has no such store. */
  readonly chats: SourceFindings['chats'] | null
  readonly messages: SourceFindings['messages'] | null
  /** Its rows at the last read; `other` are those that do not belong to chats. */
  readonly rows: { readonly total: number; readonly read: number; readonly other: number } | null
  readonly unknown: readonly UnknownRows[]
}

/** A file of Cursor's beside a store, with an earlier or damaged state of it. */
export interface SetAsideReport {
  readonly path: string
  /** Its store's path in Cursor's `User` folder. */
  readonly place: string
  /** Chats with messages in it that the mirror neither has nor must keep out. */
  readonly chats: number
  /** Why it could not be read, or not to its end. */
  readonly trouble: string | null
}

export interface DoctorReport {
  readonly mirror: { readonly path: string; readonly state: 'read' | 'missing' | 'other-version' }
  readonly stores: readonly StoreReport[]
  /** How many entries `cursordex losses` lists. Null without a mirror. */
  readonly losses: LossCounts | null
  /** Empty without a mirror. */
  readonly setAside: readonly SetAsideReport[]
  /** What was not read, or not completely, and what to do, as sentences. */
  readonly attention: readonly string[]
}

export function addCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const command = program.command('doctor').option('--all', 'also list places that do not exist')
  addJson(command)
  addExamples(command, 'cursordex doctor', 'cursordex doctor --all')
  command.action(async () => {
    const report = examine(settingsOf(command))
    const { json, all = false } = command.opts<Options>()
    await session.print(json === true ? `${printableJson(report)}\n` : renderDoctor(report, session.screen, all))
  })
}

function examine(settings: Settings): DoctorReport {
  const path = mirrorPath(settings.dataDir)
  const { userDirs, homes } = settings.cursor
  const sources = discoverSources({ userDirs, homes, disabledKinds: disabledKindsOf(settings) })
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
      losses: mirror === null ? null : sumLosses(mirror),
      setAside: mirror === null ? [] : lookAside(sources, mirror, userDirs),
    } as const
    // Several sources may read one file.
    const attention = new Set([
      ...attentionIn(report),
      ...disabledKindsOf(settings).map(disabledText),
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
    if (isDamage(error)) throw mirrorDamaged(error instanceof Error ? error.message : path)
    if (!(error instanceof UserError) || error.code !== 'mirror-missing') throw error
    refuseUnreadable(path)
    return null
  }
}

/** Without permission to look, "missing" would be a guess. */
function refuseUnreadable(path: string): void {
  try {
    statSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const hint = 'Run this as the user who owns the folder.'
    throw new UserError('unreadable', `${path} cannot be read (${code}).`, hint, { cause })
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
      const { ids, trouble } = readSetAside(file, (open) => chatsIn(open, known))
      for (const id of ids) found.ids.add(id)
      found.trouble ??= trouble
      files.set(file, found)
    }
  }
  return [...files].map(([path, { place, ids, trouble }]) => ({ path, place, chats: ids.size, trouble }))
}

const disabledText = (kind: string): string =>
  `Stores of the kind ${kind} are not read, because sources.${kind}.enabled is false.`

/** Folders that the user named, and where no Cursor is. */
function namedInVain({ userDirs, userDirsExplicit, homes, homesExplicit }: Settings['cursor']): string[] {
  const named = [...(userDirsExplicit ? userDirs : []), ...(homesExplicit ? homes : [])]
  const missing = named.filter((folder) => !mayExist(folder))
  const texts = missing.map((folder) => `${folder} does not exist. The settings name it as a folder of Cursor.`)
  return [...texts, ...misconfiguredFolders(userDirs)]
}

const lossyRepairs = (mirror: Mirror, path: string): string[] =>
  listSalvages(mirror, path)
    .filter(({ isLossy }) => isLossy)
    .map(({ text }) => text)

type State = Pick<StoreReport, 'state' | 'detail'>

function examineStore(source: Source, mirror: Mirror | null): StoreReport {
  const findings = mirror === null ? null : examineSource(mirror, source.id)
  const look = source.look?.() ?? null
  const now = look === null || look.state === 'ok' || look.state === 'missing' ? stateNow(source) : look
  const isUnopened = now.state === 'missing' || now.state === 'not read yet'
  // What the file says now counts; else what the last pass found, which reads every page.
  const isKnown = findings !== null && findings.state !== 'missing'
  return reportOf(source, findings, isUnopened && isKnown ? findings : now, look?.unknown ?? [])
}

/** What `stat` alone says of a store that was never read. */
function stateNow(source: Source): State {
  try {
    return { state: source.signature() === null ? 'missing' : 'not read yet', detail: null }
  } catch (error) {
    return closedBy(error)
  }
}

/** Stores that were read once and are no longer configured. Their contents are still in the mirror. */
function strayStores(mirror: Mirror, looked: ReadonlySet<SourceId>): StoreReport[] {
  return listSources(mirror)
    .filter(({ id }) => !looked.has(id))
    .map((source) => reportOf(source, examineSource(mirror, source.id), source, []))
}

function reportOf(
  { id, kind, path }: Pick<StoreReport, 'id' | 'kind' | 'path'>,
  findings: SourceFindings | null,
  { state, detail }: State,
  unknown: readonly UnknownRows[],
): StoreReport {
  const { lastSyncAt, chats, messages, issues, pendingLoss } = findings ?? NOTHING_KNOWN
  const rows = findings === null ? null : rowsOf(findings)
  return { id, kind, path, state, detail, lastSyncAt, chats, messages, issues, pendingLoss, rows, unknown }
}

const NOTHING_KNOWN = { lastSyncAt: null, chats: null, messages: null, issues: [], pendingLoss: null }

/** Missing rows still count as read until a second comparison. */
function rowsOf({ rows: { total, live, liveIssues } }: SourceFindings): NonNullable<StoreReport['rows']> {
  const read = live - liveIssues
  return { total, read, other: Math.max(0, total - read - liveIssues) }
}
