import { UserError } from '../../model/user-error.ts'
import type { HubSettings } from '../../settings.ts'
import { dueJobs, type DueJob } from '../due-jobs.ts'
import type { EngineContext } from '../engine.ts'
import type { Sharing } from './sharing.ts'

/** Machines with the same schedule do not all come in the same second. */
const JITTER_MS = 50_000
const FIRST_PAUSE_MS = 2 * 60_000

/**
 * Pushes and pulls when they are due, first at the start. While the hub does not answer, the pauses grow.
 * @returns tick: must be called every minute. listReasons: why the hub is not up to date, as sentences
 */
export function hubSchedule(
  settings: HubSettings,
  sharing: Pick<Sharing, 'push' | 'pull'>,
  { log, onError, later, ...clock }: Pick<EngineContext, 'now' | 'zone' | 'onError' | 'later' | 'log'>,
) {
  /** Why each of them failed the last time. */
  const errors = new Map<string, UserError>()
  const run = async (act: 'push' | 'pull'): Promise<void> => {
    await new Promise<void>((resume) => later?.(resume, Math.random() * JITTER_MS))
    try {
      const done = await (act === 'pull' ? sharing.pull() : sharing.push())
      if ('notice' in done && done.notice !== null) log('warn', done.notice)
      if (errors.delete(act)) log('info', 'The hub answers again.')
    } catch (error) {
      onError?.(error)
      const known = error instanceof UserError ? error : new UserError('hub-failed', String(error), '')
      const isSaid = known.code === 'stopped' || errors.get(act)?.message === known.message
      if (!isSaid) log('warn', `${known.message} ${known.hint}`)
      errors.set(act, known)
      throw known
    }
  }
  const acts = (['push', 'pull'] as const).filter((act) => settings.url !== null && settings[act].projects.length > 0)
  const jobs = acts.map((name): DueJob => {
    const { schedule } = settings[name]
    return { name, schedule, timezone: null, firstPauseMs: FIRST_PAUSE_MS, isPatient: true, run: () => run(name) }
  })
  const dueNow = { timeZone: clock.zone(), dueAtMs: 0, failures: 0, error: null }
  const notes = Object.fromEntries(jobs.map(({ name, schedule }) => [name, { ...dueNow, schedule }]))
  return {
    ...dueJobs(jobs, notes, clock),
    listReasons: () => [...new Set([...errors.values()].map(({ code, message }) => `${code}: ${message}`))],
  }
}
