import type { Evidence } from '../../decoded.ts'
import { filledString, filledStringIn, recordIn } from './json-value.ts'
import type { JsonRecord } from './json-value.ts'

/** Where newer builds say a chat belongs, in the chat's own row. */
export function decodeEvidence(chat: JsonRecord): readonly Evidence[] {
  const workspace = recordIn(chat, 'workspaceIdentifier')
  const uri = filledString(workspace?.['uri']) ?? uriText(recordIn(workspace, 'uri'))
  return uri === null ? [] : [{ method: 'workspace-identifier', uri }]
}

function uriText(uri: JsonRecord | null): string | null {
  return filledStringIn(uri, 'external') ?? uriOfParts(uri) ?? uriOfPath(filledStringIn(uri, 'fsPath'))
}

function uriOfParts(uri: JsonRecord | null): string | null {
  const scheme = filledStringIn(uri, 'scheme')
  const path = filledStringIn(uri, 'path')
  if (path === null) return null
  // Without a scheme and beside a path of the file system, the latter is surer: it names a drive.
  if (scheme === null) return filledStringIn(uri, 'fsPath') === null ? uriOfPath(path) : null
  return `${scheme}://${encoded(filledStringIn(uri, 'authority') ?? '')}${encoded(rooted(path))}`
}

/** A file system path of any OS, by its shape: a chat can come from another machine. Null for a relative one. */
function uriOfPath(path: string | null): string | null {
  if (path === null) return null
  if (path.startsWith('\\\\')) return `file:${encoded(path.replaceAll('\\', '/'))}`
  if (/^[a-z]:[\\/]/i.test(path)) return `file://${encoded(rooted(path.replaceAll('\\', '/')))}`
  return path.startsWith('/') ? `file://${encoded(path)}` : null
}

const rooted = (path: string): string => (path.startsWith('/') ? path : `/${path}`)

/** Percent-encodes all but the separators and a drive's colon. */
const encoded = (path: string): string => encodeURIComponent(path).replaceAll('%2F', '/').replaceAll('%3A', ':')
