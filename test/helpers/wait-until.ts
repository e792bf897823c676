/**
 * Asks again and again until the answer is neither null, undefined nor false. It waits as long as a machine with much
 * other work may need: who waits for what comes, waits no longer for that.
 * @throws Error that names what was waited for
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
