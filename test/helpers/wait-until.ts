/**
 * Polls until the answer is neither null, undefined nor false. The limit is long enough for a busy machine; a test
 * that succeeds does not wait longer because of it.
 * @throws Error that names the awaited event
 */
export async function waitUntil<Value>(
  what: string,
  ask: () => Value | Promise<Value>,
  { withinMs = 60_000, everyMs = 20 }: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<Exclude<NonNullable<Value>, false>> {
  const endAt = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer as Exclude<NonNullable<Value>, false>
    if (performance.now() > endAt) throw new Error(`waited ${withinMs} ms in vain: ${what}`)
    await pause(everyMs)
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms))
