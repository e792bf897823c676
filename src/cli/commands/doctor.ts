import { join } from 'node:path'
import type { Command } from 'commander'
import type { LossCounts } from '../../api/answers/chats.ts'
import { examineSource, type SourceFindings, sumLosses, listSources } from '../../api/queries/sources.ts'
import { mirrorPath } from '../../engine/data-folder.ts'
import { misconfiguredFolders, pendingLossText } from '../../engine/source-reasons.ts'
import { discoverSources, listUnreadTrees } from '../../indexer/discover.ts'
import { closedBy, listEntries, mayExist, orIfUnreadable } from '../../indexer/open-safely/cursor-file.ts'
import type { Source } from '../../indexer/source.ts'
import type { UnknownRows } from '../../indexer/sources/composer-kv/read.ts'
import { isDamage, mirrorDamaged } from '../../mirror/damage/find-damage.ts'
import { listSalvages } from '../../mirror/damage/replace-mirror.ts'
import { openReader, type Mirror } from '../../mirror/open.ts'
import { isOfThisVersion } from '../../mirror/schema.ts'
import type { SourceId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import { disabledKindsOf, type Settings } from '../../settings.ts'
import { printableLine } from '../../text/printable.ts'
import { findDaemon } from '../client/client.ts'
import { addExamples } from '../input/options.ts'
import type { Session } from '../session.ts'
import { countText, numberText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows } from '../terminal/table.ts'
import { renderAttention, renderBullets, wrap } from '../terminal/text.ts'
import { lossText } from './status.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program.command('doctor').description('check what needs attention, and what was read from each store')
  addExamples(command, 'cursordex doctor', 'cursordex doctor --json')
  command.action(async () => {
    const settings = session.settingsOf(command)
    // Without permission to look, "no mirror" would be a guess.
    await findDaemon(settings.dataDir)
    const report = examine(settings)
    return session.printAnswer(command, report, () => renderDoctor(report, session.screen))
  })
}

type StoreReport = ReturnType<typeof reportOf>
export type DoctorReport = ReturnType<typeof examine>

function examine(settings: Settings) {
  const path = mirrorPath(settings.dataDir)
  const { userDirs, homes } = settings.cursor
  const sources = discoverSources({ userDirs, homes, disabledKinds: disabledKindsOf(settings) })
  const reader = readerIfAny(path)
  try {
    const mirror = reader !== null && isOfThisVersion(reader) ? reader : null
    const state =
      reader === null ? ('missing' as const) : mirror === null ? ('other-version' as const) : ('read' as const)
    const stores = sources.map((source) => examineStore(source, mirror))
    if (mirror !== null) stores.push(...strayStores(mirror, new Set(sources.map(({ id }) => id))))
    const sentences = [
      ...stores.flatMap((store) => attentionOf(store).map((text) => `${store.path}: ${text}`)),
      ...userDirs.flatMap(setAside),
      ...listUnreadTrees(settings.cursor).map(
        ({ path: tree, chats }) =>
          `${tree}: ${countText(chats, 'folder')} of an old command line of Cursor's may have chats. They are not read, because their form is not known.`,
      ),
      ...mirrorText(state, path),
      ...disabledKindsOf(settings).map(
        (kind) => `Stores of the kind ${kind} are not read, because sources.${kind}.enabled is false.`,
      ),
      ...namedInVain(settings.cursor),
      ...(mirror === null ? [] : listSalvages(mirror, path)).flatMap(({ isLossy, text }) => (isLossy ? [text] : [])),
    ]
    return {
      mirror: { path, state },
      stores,
      /** How many entries `cursordex losses` lists. Null without a mirror. */
      losses: mirror === null ? null : sumLosses(mirror),
      /** What was not read, or not completely, and what to do. Several sources may read one file. */
      attention: [...new Set(sentences)],
    }
  } finally {
    reader?.close()
  }
}

function readerIfAny(path: string): Mirror | null {
  try {
    return openReader(path)
  } catch (error) {
    if (isDamage(error)) throw mirrorDamaged(error instanceof Error ? error.message : path)
    if (error instanceof UserError && error.code === 'mirror-missing') return null
    throw error
  }
}

/**
 * A sentence for each store that Cursor renamed because it could not open it. Such a file stays for ever, and is not read. If the
 * folder may not be listed, its store is unreadable, which is said elsewhere.
 */
function setAside(userDir: string): string[] {
  const folder = join(userDir, 'globalStorage')
  const entries = orIfUnreadable(
    () => listEntries(folder),
    () => [],
  )
  const copy = `copy it to ${join('<folder>', 'User', 'globalStorage', 'state.vscdb')}`
  const sync = `"cursordex sync --cursor-user-dir ${join('<folder>', 'User')}"`
  const hint = `To read them, stop the daemon, ${copy}, run ${sync} and start the daemon again.`
  return entries
    .map(({ name }) => name)
    .filter((name) => /^state\.vscdb\.corrupted\.[^-]+$/.test(name))
    .map((name) => `${join(folder, name)}: Cursor set this file aside, with chats that may be nowhere else. ${hint}`)
}

type State = Pick<StoreReport, 'state' | 'detail'>

function examineStore(source: Source, mirror: Mirror | null) {
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

interface Named {
  readonly id: string
  readonly kind: string
  readonly path: string
}

function reportOf(
  { id, kind, path }: Named,
  findings: SourceFindings | null,
  { state, detail }: { readonly state: string; readonly detail: string | null },
  unknown: readonly UnknownRows[],
) {
  const { lastSyncAt = null, chats = null, messages = null, issues = [], pendingLoss = null } = findings ?? {}
  const rows = findings === null ? null : rowsOf(findings)
  return { id, kind, path, state, detail, lastSyncAt, chats, messages, issues, pendingLoss, rows, unknown }
}

/**
 * The rows of a store at its last read; `other` are those that do not belong to chats. Missing rows still count as read
 * until a second comparison.
 */
function rowsOf({ rows: { total, live, liveIssues } }: SourceFindings) {
  const read = live - liveIssues
  return { total, read, other: Math.max(0, total - read - liveIssues) }
}

function attentionOf({ state, detail, issues, pendingLoss }: StoreReport): string[] {
  const sentences: string[] = []
  if (state === 'not read yet') sentences.push('It has not been read yet. Start the daemon, or run "cursordex sync".')
  else if (state !== 'ok' && state !== 'missing') {
    sentences.push(`The store is ${state}${detail === null || detail === '' ? '.' : `: ${detail}`}`)
  }
  if (pendingLoss !== null) sentences.push(pendingLossText(pendingLoss))
  const unread = issues.reduce((sum, { count }) => sum + count, 0)
  const reasons = issues.map(
    ({ reason, count, example }) => `${numberText(count)} ${reason}${example === null ? '' : `, such as ${example}`}`,
  )
  if (unread > 0) {
    sentences.push(`${countText(unread, 'row')} could not be read (${reasons.join('; ')}). Everything else was read.`)
  }
  return sentences
}

function mirrorText(state: 'missing' | 'other-version' | 'read', path: string): string[] {
  const end = 'so only the stores were checked.'
  if (state === 'missing') return [`There is no mirror yet (${path}), ${end} "cursordex sync" makes one.`]
  return state === 'read' ? [] : [`The mirror (${path}) belongs to another version of cursordex, ${end}`]
}

/** Folders that the user named, and where no Cursor is. */
function namedInVain({ userDirs, userDirsExplicit, homes, homesExplicit }: Settings['cursor']): string[] {
  const named = [...(userDirsExplicit ? userDirs : []), ...(homesExplicit ? homes : [])]
  const missing = named.filter((folder) => !mayExist(folder))
  const texts = missing.map((folder) => `${folder} does not exist. The settings name it as a folder of Cursor.`)
  return [...texts, ...misconfiguredFolders(userDirs)]
}

/** What needs attention, then a table of the stores that exist, then what this version does not know, then what was lost. */
export function renderDoctor({ stores, attention, losses }: DoctorReport, screen: Screen): string {
  const shown = stores.filter((store) => store.state !== 'missing' || hasContent(store))
  const trouble =
    shown.length === 0
      ? `No Cursor was found yet.\n${renderBullets(attention, screen)}`
      : renderAttention(attention, screen) || 'No problems: every store was read completely.\n'
  const sections = [
    trouble,
    shown.length === 0 ? '' : renderStores(shown, screen),
    renderBullets(shown.flatMap(unknownIn), screen),
    losses === null ? '' : `${wrap(lossesText(losses), 0, screen)}\n`,
  ]
  return sections.filter((section) => section !== '').join('\n')
}

/** Whether something was ever read from a store. */
const hasContent = ({ chats, messages, issues }: StoreReport): boolean =>
  (chats?.total ?? 0) + (messages?.held ?? 0) + issues.length > 0

/** Width of the columns other than the path. */
const OTHER_COLUMNS_WIDTH = 48

function renderStores(stores: readonly StoreReport[], screen: Screen): string {
  // Long paths differ at the end.
  const room = screen.width === null ? Infinity : Math.max(20, screen.width - OTHER_COLUMNS_WIDTH)
  const endOf = (path: string): string => (path.length <= room ? path : `…${path.slice(1 - room)}`)
  const isKept = ({ messages }: StoreReport): boolean => (messages?.keptHere ?? 0) > 0
  return renderRows(
    [
      { title: 'store', read: ({ kind }) => kind },
      { title: 'state', widthMin: 8, read: ({ state }) => STATES[state] ?? state },
      { title: 'chats', align: 'right', read: ({ chats }) => chats?.total ?? null },
      { title: 'messages', align: 'right', read: ({ messages }) => messages?.held ?? null },
      { title: 'deleted', align: 'right', read: ({ messages }) => messages?.keptHere ?? 0, isNeededFor: isKept },
      { title: 'path', widthMin: 12, read: ({ path }) => endOf(printableLine(path)) },
    ],
    stores,
    screen,
  )
}

const STATES: Readonly<Record<string, string>> = { ok: 'read', missing: 'not found' }

const unknownIn = ({ path, unknown }: StoreReport): string[] =>
  unknown.map(({ table, start, rows }) => {
    const what = start ?? `table ${table}`
    return `${what}: ${countText(rows, 'row')} that this version does not know, in ${path}`
  })

/** The same wording as in `cursordex losses`. */
const lossesText = (losses: LossCounts): string =>
  losses.messages + losses.chats === 0
    ? 'Nothing was lost.'
    : `Deleted in Cursor, still here: ${lossText(losses)}. "cursordex losses" lists them.`
