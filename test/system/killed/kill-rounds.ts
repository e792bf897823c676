import { KilledDaemon, type Kind } from './killed-daemon.ts'

export interface KillOutcome {
  readonly rounds: number
  /** The findings, a line each, with their round. */
  readonly bad: readonly string[]
  readonly line: string
  readonly moments: KilledDaemon['moments']
}

/** First kills during a first pass, then during many new rows, then at random, and sometimes during a sweep. */
function kindOf(round: number, rounds: number): Kind {
  const share = round / rounds
  if (round === 1) return 'start'
  if (share <= 0.2) return 'soon'
  if (share <= 0.3) return 'append'
  if (share <= 0.4) return 'backlog'
  if (share > 0.92) return 'sweep'
  return (['random', 'append', 'random', 'backlog', 'random', 'soon', 'start'] as const)[round % 7] ?? 'random'
}

interface Plan {
  readonly rounds: number
  readonly seed: number
  readonly bulkChats: number
  readonly bin?: string
  readonly kindOf?: (round: number, rounds: number) => Kind
  /** Ends at the first finding. */
  readonly isShort?: boolean
}

const MORE_SWEEPS = 8

/** On a busy machine the sweep of such a small store may end before the kill. */
async function sweepUntilMet(killed: KilledDaemon): Promise<string[]> {
  for (let more = 0; more < MORE_SWEEPS; more += 1) {
    if (killed.moments.sweep > 0) return []
    const found = await killed.round('sweep')
    if (found.length > 0) return found.map((line) => `one more sweep: ${line}`)
  }
  return []
}

/** Kills the daemon again and again, with the same mirror and store. */
export async function killRounds({
  rounds,
  kindOf: kind = kindOf,
  isShort = false,
  ...options
}: Plan): Promise<KillOutcome> {
  const killed = new KilledDaemon(options)
  const bad: string[] = []
  let badRounds = 0
  let done = 0
  try {
    for (let round = 1; round <= rounds; round += 1) {
      if (isShort && bad.length > 0) break
      const found = await killed.round(kind(round, rounds))
      badRounds += Number(found.length > 0)
      bad.push(...found.slice(0, 5).map((line) => `round ${round}, ${kind(round, rounds)}: ${line}`))
      done += 1
    }
    const { moments } = killed
    if (bad.length === 0 && kind === kindOf) bad.push(...(await sweepUntilMet(killed)))
    if (bad.length === 0) bad.push(...(await killed.settle()).map((line) => `at the end: ${line}`))
    const where = `${moments.firstPass} in the first pass, ${moments.backlog} with a backlog, ${moments.sweep} in a sweep`
    const line = `kill -9: ${done} rounds, ${badRounds} bad (${where}; ${killed.held} messages held)`
    return { rounds: done, bad, line, moments }
  } finally {
    await killed.remove()
  }
}
