/** Why a row could not be read. Each is counted in `/api/status`; none stops its neighbours. */
export const issueReasons = [
  'null-value',
  'null-key',
  'bad-key',
  'bad-json',
  'not-an-object',
  'too-large',
  'too-deep',
  'unknown-shape',
  'unreadable-page',
  'missing-blob',
  'blob-cycle',
  'encrypted',
] as const
export type IssueReason = (typeof issueReasons)[number]
