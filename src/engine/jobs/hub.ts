import { Histories } from '../../git/histories.ts'
import { describeHub } from '../../hub/administer.ts'
import { withHub, type Hub } from '../../hub/client.ts'
import { meet, countWaiting, push } from '../../hub/push.ts'
import { pullPart } from '../../hub/pull.ts'
import type { Mirror } from '../../mirror/open.ts'
import { realSurroundings } from '../../settings.ts'
import { driven, type JobContext } from './jobs.ts'

/** Works at the hub, and only reads the mirror. @throws UserError whose code begins with `hub-` */
const atHub =
  <Order, Result>(work: (hub: Hub, db: Mirror, order: Order, context: JobContext) => Promise<Result>) =>
  (order: Order & { readonly url: string }, context: JobContext): Promise<Result> =>
    withHub(order.url, (hub) => work(hub, context.mirror(), order, context))

export const hubMeetJob = atHub(async (hub, db, order: Parameters<typeof meet>[3]) => {
  const histories = new Histories(realSurroundings().env)
  return meet(hub, db, histories, order).finally(() => histories.close())
})
export const hubDescribeJob = atHub(async (hub, db, order: Parameters<typeof countWaiting>[2]) => ({
  ...(await describeHub(hub)),
  waiting: await countWaiting(hub, db, order),
}))
export const hubPushJob = atHub((hub, db, order: Parameters<typeof push>[2], context) =>
  driven(push(hub, db, order), context),
)
export const hubPullJob = atHub(pullPart)
