import { asRecord, firstFilledIn, parseJson } from '../records/json-value.ts'

/**
 * The root that a workspace folder stands for: `folder`, or for several folders the `.code-workspace` file under
 * `workspace` (`configuration` in old versions). That file is never opened: it may lie on another machine, and the
 * workspace is one project whatever it lists. Null where nothing names one.
 */
export function decodeWorkspaceRoot(text: string): string | null {
  return firstFilledIn(asRecord(parseJson(text)?.value), ['folder', 'workspace', 'configuration'])
}
