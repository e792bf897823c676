/** Why a row could not be read. `/api/status` counts each reason. An unreadable row does not affect other rows. */
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
