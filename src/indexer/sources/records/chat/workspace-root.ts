import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asRecord, firstFilledIn, parseJson } from '../json/json-value.ts'

/**
 * The root that a workspace folder stands for: `folder`, or for several folders the `.code-workspace` file under
 * `workspace` (`configuration` in old versions). That file is never opened: it may lie on another machine, and the
 * workspace is one project whatever it lists. Null where nothing names one.
 */
export function decodeWorkspaceRoot(text: string): string | null {
  return firstFilledIn(asRecord(parseJson(text)?.value), ['folder', 'workspace', 'configuration'])
}

/**
 * The root of the workspace whose folder this is. Null where its `workspace.json` is missing, as it is for a window
 * without a folder.
 */
export function readWorkspaceRoot(folder: string): string | null {
  try {
    return decodeWorkspaceRoot(readFileSync(join(folder, 'workspace.json'), 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
