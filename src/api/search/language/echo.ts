/** Where a pasted name is cut in an echo of it. */
const ECHO_LENGTH_MAX = 40

/** What was typed, as a warning repeats it. */
export function echo(source: string): string {
  const short = Array.from(source).slice(0, ECHO_LENGTH_MAX).join('')
  return `"${short}${short.length < source.length ? '…' : ''}"`
}
