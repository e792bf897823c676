import type * as z from 'zod/mini'

/** What is wrong, and where, in words. */
export function issueText(error: z.core.$ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'not what it should be'
  const what = issue.code === 'unrecognized_keys' ? `${issue.keys.join(', ')} is extra` : issue.message
  return issue.path.length === 0 ? what : `${issue.path.join('.')}: ${what}`
}
