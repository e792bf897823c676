import { UserError } from '../model/user-error.ts'
import { deferred, type Deferred } from './deferred.ts'
import type { EstimateOrder, EstimateReply } from './estimate-messages.ts'
import { startChild } from './start-child.ts'

export type EstimateSlice = Extract<EstimateReply, { readonly kind: 'slice' }>

/** The process that counts tokens, as the daemon sees it. */
export interface Estimator {
  readonly pid: number | null
  /** @throws UserError `estimator-damage` where the mirror's file is damaged, `estimator-died` for the rest */
  work(order: EstimateOrder): Promise<EstimateSlice>
  /** @returns a promise that resolves once the process has ended, and its memory is free */
  end(): Promise<void>
}

/** Young objects are many here and short-lived, and what is old is collected often: 135 MB at most, in place of 220. */
const FRUGAL = ['--max-semi-space-size=2', '--optimize-for-size']

const died = (): UserError =>
  new UserError('estimator-died', 'The process that counts tokens ended.', 'It starts again.')

export function startEstimator(mirrorPath: string): Estimator {
  const child = startChild('estimate-child', [mirrorPath], FRUGAL)
  let asked: Deferred<EstimateSlice> | null = null
  let isGone = false
  const ended = deferred<void>()
  const settle = (reply: EstimateReply): void => {
    if (reply.kind === 'slice') asked?.resolve(reply)
    else asked?.reject(new UserError(reply.isDamage ? 'estimator-damage' : 'estimator-died', reply.message, ''))
    asked = null
  }
  const bury = (): void => {
    isGone = true
    ended.resolve()
    asked?.reject(died())
    asked = null
  }
  child.on('message', settle)
  child.on('error', bury)
  child.on('exit', bury)
  return {
    get pid() {
      return isGone ? null : (child.pid ?? null)
    },
    work(order) {
      if (isGone) throw died()
      asked = deferred()
      child.send(order)
      return asked.promise
    },
    end() {
      child.kill('SIGKILL')
      return ended.promise
    },
  }
}
