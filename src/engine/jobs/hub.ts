import type { Progress } from '../../api/http/schemas/archives.ts'
import { Histories } from '../../git/histories.ts'
import { openHub, readHub, type Hub } from '../../hub/client.ts'
import { describeHub, type HubDescription } from '../../hub/describe.ts'
import { explainHubError } from '../../hub/explain-error.ts'
import { prepare, type Prepared } from '../../hub/prepare.ts'
import { pullPart, type PullOrder, type PullPart } from '../../hub/pull.ts'
import type { OwnMachine } from '../../hub/own-machine.ts'
import { readLegacy, takeOver, type Legacy } from '../../hub/take-over.ts'
import { push, type PushOrder, type PushResult } from '../../hub/push.ts'
import { spoolObject } from '../../hub/spool.ts'
import type { Mirror } from '../../mirror/open.ts'
import { realSurroundings } from '../../settings.ts'
import type { Job } from './job.ts'

/** What a process does at the hub. It only reads the mirror. */
export interface HubTasks {
  readonly prepare: {
    readonly order: { readonly uuid: string; readonly isRedacted: boolean }
    readonly result: Prepared
  }
  readonly describe: { readonly order: null; readonly result: HubDescription }
  readonly push: { readonly order: PushOrder; readonly result: PushResult }
  /** `dir`: the spool folder. `machine`: the label or the uuid of a lost mirror. */
  readonly legacy: { readonly order: { readonly machine: string; readonly dir: string }; readonly result: Legacy }
  readonly 'take-over': {
    readonly order: { readonly machine: OwnMachine; readonly lost: string }
    readonly result: null
  }
  /** `dir`: the spool folder. */
  readonly pull: { readonly order: Omit<PullOrder, 'save'> & { readonly dir: string }; readonly result: PullPart }
}

export type HubTask = keyof HubTasks

export type HubInput = { readonly url: string } & {
  readonly [Task in HubTask]: { readonly task: Task; readonly order: HubTasks[Task]['order'] }
}[HubTask]

export type HubResult = HubTasks[HubTask]['result']

/** @throws UserError whose code begins with `hub-` */
export const hubJob: Job<HubInput, HubResult> = async function* (input, context) {
  const db = context.mirror()
  const hub = await openHub(input.url)
  try {
    return yield* begin(hub, db, input)
  } catch (error) {
    throw explainHubError(error)
  } finally {
    await hub.close()
  }
}

async function* begin(hub: Hub, db: Mirror, input: HubInput): AsyncGenerator<Progress, HubResult> {
  switch (input.task) {
    case 'prepare': {
      const histories = new Histories(realSurroundings().env)
      return await prepare(hub, db, histories, input.order).finally(() => histories.close())
    }
    case 'describe':
      return await describeHub(hub)
    case 'push':
      return yield* push(hub, db, await readHub(hub), input.order)
    case 'legacy': {
      const { dir, machine } = input.order
      return yield* readLegacy(hub, { machine, save: (name, object) => spoolObject(dir, name, object) })
    }
    case 'take-over':
      await takeOver(hub, db, input.order.machine, input.order.lost)
      return null
    default: {
      const { dir, ...order } = input.order
      return yield* pullPart(hub, db, { ...order, save: (name, object) => spoolObject(dir, name, object) })
    }
  }
}
