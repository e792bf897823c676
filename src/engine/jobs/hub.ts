import type { Progress } from '../../model/progress.ts'
import { Histories } from '../../git/histories.ts'
import { describeHub } from '../../hub/administer.ts'
import { openHub, type Hub } from '../../hub/client.ts'
import { meet } from '../../hub/meet.ts'
import { pullPart } from '../../hub/pull.ts'
import { push } from '../../hub/push.ts'
import type { Mirror } from '../../mirror/open.ts'
import { realSurroundings } from '../../settings.ts'
import type { Job } from './jobs.ts'

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
    } finally {
      await hub.close()
    }
  }

const inOneStep = <Order, Result>(work: (hub: Hub, db: Mirror, order: Order) => Promise<Result>) =>
  // oxlint-disable-next-line require-yield
  atHub(async function* (hub, db, order: Order) {
    return await work(hub, db, order)
  })

export const hubMeetJob = inOneStep(async (hub, db, order: Parameters<typeof meet>[3]) => {
  const histories = new Histories(realSurroundings().env)
  return meet(hub, db, histories, order).finally(() => histories.close())
})
export const hubDescribeJob = inOneStep(describeHub)
export const hubPushJob = atHub(push)
export const hubPullJob = inOneStep(pullPart)
