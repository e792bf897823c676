import type { Progress } from '../../api/http/schemas/archives.ts'
import { Histories } from '../../git/histories.ts'
import { describeHub } from '../../hub/administer.ts'
import { openHub, type Hub } from '../../hub/client.ts'
import { explainHubError } from '../../hub/explain-error.ts'
import { meet } from '../../hub/meet.ts'
import { pullPart } from '../../hub/pull.ts'
import { push } from '../../hub/push.ts'
import type { Mirror } from '../../mirror/open.ts'
import { realSurroundings } from '../../settings.ts'
import type { Job } from './job.ts'

/** What the jobs of the hub begin with. */
interface AtHub {
  /** The address of the hub. */
  readonly url: string
}

/** Works at the hub, and only reads the mirror. @throws UserError whose code begins with `hub-` */
const atHub = <Order, Result>(
  work: (hub: Hub, db: Mirror, order: Order) => AsyncGenerator<Progress, Result>,
): Job<Order & AtHub, Result> =>
  async function* (order, context) {
    const hub = await openHub(order.url)
    try {
      return yield* work(hub, context.mirror(), order)
    } catch (error) {
      throw explainHubError(error)
    } finally {
      await hub.close()
    }
  }

const begun: Progress = { done: 0, total: 0 }

export const hubMeetJob = atHub(async function* (hub, db, order: Parameters<typeof meet>[3]) {
  yield begun
  const histories = new Histories(realSurroundings().env)
  return await meet(hub, db, histories, order).finally(() => histories.close())
})
export const hubDescribeJob = atHub(async function* (hub) {
  yield begun
  return await describeHub(hub)
})
export const hubPushJob = atHub(push)
export const hubPullJob = atHub(pullPart)
