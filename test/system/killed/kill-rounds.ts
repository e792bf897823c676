import type { Chance } from '../../helpers/cursor.ts'
import type { Cursordex } from '../../helpers/spawn-cursordex.ts'
import { pause } from '../../helpers/wait-until.ts'

/** A phase of the program's work, in which it is killed. */
export interface Phase {
  readonly what: string
  /** Starts the program. @returns it at the beginning of the phase */
  readonly begin: () => Promise<Cursordex>
  /** The phase takes about this long. */
  readonly lastsMs: number
}

/** What is killed again and again. Each kill meets what the ones before it left. */
export interface Subject {
  readonly phases: readonly Phase[]
  /** Starts the program again, and compares everything with what is right. @throws for a difference */
  readonly check: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** If every kill came after the work was done, as on a busy machine, so many more are tried. */
const MORE = 10

/**
 * Kills the program at a random step of each phase.
 * @returns how many kills met the program before its end, by phase; each phase has at least one
 */
export async function killRounds(subject: Subject, rounds: number, chance: Chance): Promise<Record<string, number>> {
  const kills = Object.fromEntries(subject.phases.map(({ what }) => [what, 0]))
  const kill = async ({ what, begin, lastsMs }: Phase): Promise<void> => {
    const program = await begin()
    await pause(chance.between(0, lastsMs))
    kills[what] = (kills[what] ?? 0) + Number(!program.hasEnded)
    await program.stop('SIGKILL')
    await subject.check().catch((error: unknown) => {
      throw new Error(`after a kill during ${what}`, { cause: error })
    })
  }
  for (let round = 0; round < rounds; round += 1) for (const phase of subject.phases) await kill(phase)
  for (const phase of subject.phases) {
    for (let more = 0; more < MORE && kills[phase.what] === 0; more += 1) await kill(phase)
    if (kills[phase.what] === 0) throw new Error(`every kill during ${phase.what} came too late`)
  }
  return kills
}
