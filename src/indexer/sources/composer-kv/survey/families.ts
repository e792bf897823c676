import { isPlainName, type FamilySurvey, type TableSurvey } from '../../../survey.ts'
import { tabKeys } from '../../records/chat/decode-tabs.ts'
import { CHAT_PREFIX, MESSAGE_PREFIX } from '../keys.ts'

interface KnownFamily {
  /** Its keys begin with this, or equal it if there is no `<id>` in the name. */
  readonly start: string
  readonly use: FamilySurvey['use']
  /** Its values are whole files of the user, which are not examined. */
  readonly isContent?: true
  /** The latest known `_v`. */
  readonly versionMax?: number
}

/** The commits that Cursor saw last; found in both tables. */
const LAST_SEEN_HEAD = 'composer.autoAccept.lastSeenHead'

/** Every kind of row ever seen in the table of chats. Everything else is reported as unknown. */
const knownFamilies: readonly KnownFamily[] = [
  { start: CHAT_PREFIX, use: 'read', versionMax: 18 },
  { start: MESSAGE_PREFIX, use: 'read', versionMax: 3 },
  { start: 'agentKv:artifact:', use: 'noise', isContent: true },
  { start: 'agentKv:blob:', use: 'noise' },
  { start: 'agentKv:bubbleCheckpoint:', use: 'noise' },
  { start: 'agentKv:checkpoint:', use: 'noise' },
  { start: 'ai_accepted_diffs.', use: 'noise' },
  { start: 'ai_hashes.', use: 'noise' },
  { start: 'bcCachedDetails:', use: 'noise' },
  { start: 'checkpointId:', use: 'noise' },
  { start: 'cloudAgentDraft:', use: 'noise' },
  { start: 'codeBlockDiff:', use: 'noise' },
  { start: 'codeBlockPartialInlineDiffFates:', use: 'noise' },
  { start: LAST_SEEN_HEAD, use: 'noise', isContent: true },
  { start: 'composer.composerHeaders.', use: 'noise' },
  { start: 'composer.content.', use: 'noise', isContent: true },
  { start: 'composerVirtualRowHeights:', use: 'noise' },
  { start: 'expectedContent-', use: 'noise', isContent: true },
  { start: 'inlineDiff:', use: 'noise' },
  { start: 'inlineDiffs-', use: 'noise' },
  { start: 'inlineDiffUndoRedo:', use: 'noise' },
  { start: 'inlineDiffUndoRedo-', use: 'noise' },
  { start: 'messageRequestContext:', use: 'noise' },
  { start: 'ofsContent:', use: 'noise', isContent: true },
  { start: 'patch-graph:', use: 'noise', isContent: true },
]
const knownKeys: ReadonlySet<string> = new Set(['inlineDiffsData'])
/** In these keys the id comes first. */
const CLOUD_AGENT = ':cloudAgent:metadata'

/**
 * The other table also contains settings and tokens. Only these keys are named, and only those with `true` are
 * examined.
 */
const knownItems: ReadonlyMap<string, boolean> = new Map([
  ['aiService.generations', true],
  ['aiService.prompts', true],
  ['composer.composerData', true],
  ['composer.composerHeaders', true],
  ['composer.composerHeaders.migratedToTable', true],
  ['composer.composerHeaders.tableGateEnabled', true],
  ['composer.composerHeaders.version', true],
  ['composer.planMigrationToHomeDirCompleted', false],
  ['composer.planRegistry', false],
  ['cursor.storage.disableSqliteStorageBackup', false],
  ['cursor/glass.selectedAgent', false],
  ['cursor/pinnedComposers', false],
  ['glass.localAgentProjectMembership.v1', true],
  ['glass.localAgentProjects.v1', true],
  ['history.entries', false],
  ['interactive.sessions', true],
  ['notepadData', false],
  ['workbench.backgroundComposer.workspacePersistentData', false],
  ['workbench.panel.aichat.view.aichat.chatdata', true],
  ['workbench.panel.chat.view.chat.chatdata', true],
  ['workbench.panel.composerChatViewPane', true],
])
/** The items in the global store that another source reads. */
const itemsRead: ReadonlySet<string> = new Set([
  ...tabKeys,
  'composer.composerHeaders',
  'glass.localAgentProjectMembership.v1',
  'glass.localAgentProjects.v1',
])
const PANE_START = 'workbench.panel.composerChatViewPane.'

const tableUses: Readonly<Record<string, TableSurvey['use']>> = {
  cursorDiskKV: 'rows',
  ItemTable: 'list',
  composerHeaders: 'list',
}

export const tableUse = (name: string): TableSurvey['use'] =>
  Object.hasOwn(tableUses, name) ? (tableUses[name] ?? 'unknown') : 'unknown'

/** Whether only known names may be shown for this table. */
export const isItemTable = (name: string): boolean => name === 'ItemTable'

/** Names under which tokens, keys and identities are stored. Deliberately broad, but without "author". */
const PRIVATE =
  /auth(?!or)|authori[sz]|secret|telemetry|token|credential|passw|passphrase|api[-_.]?key|private|encrypt|machine-?id|e-?mail|licen[sc]e|cookie|stripe|mcp/i

export const isPrivate = (name: string): boolean => PRIVATE.test(name)

/** What a key says about its row. */
export type KeyVerdict =
  | {
      readonly kind: 'family'
      readonly name: string
      readonly use: FamilySurvey['use']
      readonly isSampled: boolean
      readonly versionMax: number | null
    }
  | { readonly kind: 'private' }
  | { readonly kind: 'unnamed' }

const family = (
  name: string,
  use: FamilySurvey['use'],
  isSampled = true,
  versionMax: number | null = null,
): KeyVerdict => ({
  kind: 'family',
  name,
  use,
  isSampled,
  versionMax,
})

export function judgeItem(key: string): KeyVerdict {
  const isSampled = knownItems.get(key)
  if (isSampled !== undefined) return family(key, itemsRead.has(key) ? 'read' : 'noise', isSampled)
  if (key.startsWith(PANE_START)) return family(`${PANE_START}<id>`, 'noise')
  if (key.startsWith(LAST_SEEN_HEAD)) return family(`${LAST_SEEN_HEAD}<id>`, 'noise', false)
  return { kind: isPrivate(key) ? 'private' : 'unnamed' }
}

export function judgeKey(key: string): KeyVerdict {
  const known = knownFamilies.find(({ start }) => key.startsWith(start))
  if (known !== undefined) {
    return family(`${known.start}<id>`, known.use, known.isContent !== true, known.versionMax ?? null)
  }
  if (knownKeys.has(key)) return family(key, 'noise')
  if (key.endsWith(CLOUD_AGENT)) return family(`<id>${CLOUD_AGENT}`, 'noise')
  if (isPrivate(key)) return { kind: 'private' }
  return family(unknownName(key), 'unknown')
}

const isWord = (word: string): boolean => word.split(/[.-]/).every((part) => isPlainName(part))
/** A UUID, a hash, a number or a date at the end, after a name and a separator. */
const ENDS_IN_ID = /^(.+?[.-])(?:[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}|\d[\d.-]*)$/i

/**
 * The name of an unknown family: the text before the first colon, or before an id at the end. A key with neither may be
 * user data as a whole.
 */
function unknownName(key: string): string {
  const colon = key.indexOf(':')
  if (colon >= 0) return isWord(key.slice(0, colon)) ? `${key.slice(0, colon + 1)}<id>` : '<id>:<id>'
  const start = ENDS_IN_ID.exec(key)?.[1]
  return start !== undefined && isWord(start.slice(0, -1)) ? `${start}<id>` : '<id>'
}
