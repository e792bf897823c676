import type { EvidenceWrite } from '../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { weighEvidence } from '../../projects/evidence.ts'
import { readFileUri, readUri } from '../records/chat/decode-evidence.ts'
import {
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  recordIn,
  wellFormed,
} from '../records/json/json-value.ts'
import type { JsonRecord } from '../records/json/json-value.ts'

/** The projects in the sidebar, by id: an array of objects with an `id`, or an object with the ids as keys. */
export function decodeProjects(value: unknown): ReadonlyMap<string, string> {
  const entries = listEntries(value, 'projects').map(
    ({ key, value: entry }): readonly [string | null, string | null] => {
      const project = asRecord(entry)
      return [filledStringIn(project, 'id') ?? key, project === null ? null : readProjectUri(project)]
    },
  )
  return new Map(entries.flatMap(([id, uri]) => (id === null || uri === null ? [] : [[id, uri]])))
}

/** The project of each chat: an object with the chats' ids as keys, or an array of pairs. */
export function decodeMembership(value: unknown): ReadonlyMap<ChatId, string> {
  const entries = listEntries(value, 'membership').map(
    ({ key, value: entry }): readonly [string | null, string | null] => {
      const pair = asRecord(entry)
      const id = firstFilledIn(pair, ['composerId', 'agentId', 'id']) ?? key
      return [id, filledString(entry) ?? firstFilledIn(pair, ['projectId', 'localAgentProjectId'])]
    },
  )
  return new Map(entries.flatMap(([id, project]) => (id === null || project === null ? [] : [[asChatId(id), project]])))
}

/** Combines the two: neither says anything alone. */
export function placeMembers(
  membership: ReadonlyMap<ChatId, string>,
  projects: ReadonlyMap<string, string>,
): EvidenceWrite[] {
  return [...membership].flatMap(([chatId, project]) => {
    const uri = projects.get(project)
    return uri === undefined ? [] : weighEvidence(chatId, [{ method: 'agent-project', uri }], { isOnly: true })
  })
}

interface Entry {
  readonly key: string | null
  readonly value: unknown
}

/** The entries of the value, or of its field `name`, in case a later build adds a wrapper. */
function listEntries(value: unknown, name: string): readonly Entry[] {
  const record = asRecord(value)
  const inner: unknown = record?.[name]
  const list = typeof inner === 'object' && inner !== null && !isProject(inner) ? inner : value
  if (Array.isArray(list)) return list.map((entry: unknown) => ({ key: null, value: entry }))
  return Object.entries(asRecord(list) ?? {}).map(([key, entry]) => ({ key: wellFormed(key), value: entry }))
}

/** A project's id may be the same as the wrapper's name. */
const isProject = (value: object): boolean => 'workspace' in value || 'projectId' in value

function readProjectUri(project: JsonRecord): string | null {
  const workspace = recordIn(project, 'workspace')
  return (
    readUri(workspace?.['uri']) ??
    readUri(workspace?.['configPath']) ??
    readFileUri(project['workspace']) ??
    readFileUri(project['uri'])
  )
}
