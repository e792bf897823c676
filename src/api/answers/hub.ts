import * as z from 'zod/mini'
import { amount, boolean, count, maybeText, maybeTime, says, text, type Answer } from './common.ts'

const shared = {
  removed: says(count, 'Chats that were removed.'),
  unchanged: says(count, 'Chats that were there already.'),
  bytes: says(amount, 'Size of the objects that were moved.'),
}

export const hubPushAnswer = z.object({
  pushed: says(count, 'Chats that were sent.'),
  ...shared,
  leftOut: says(z.array(z.object({ id: text, why: text })), 'Chats that cannot be sent.'),
  notice: says(
    maybeText,
    'That this mirror is a new machine at the hub, because it was copied or put back; else null.',
  ),
})
export type HubPushed = Answer<typeof hubPushAnswer>

export const hubPullAnswer = z.object({ pulled: says(count, 'Chats that were fetched.'), ...shared })
export type HubPulled = Answer<typeof hubPullAnswer>

export const hubAnswer = z.object({
  url: says(maybeText, 'The address, without its password; null if no hub is set.'),
  machine: says(text, 'The label of this machine.'),
  atWork: z.nullable(z.object({ act: z.enum(['push', 'pull']), done: count, total: count })),
  lastPushAt: maybeTime,
  lastPullAt: maybeTime,
  purgesWaiting: says(count, 'Purges that the hub does not know yet.'),
  damaged: says(
    z.array(z.object({ machine: text, chats: count })),
    'How many chats of each machine, by its uuid, were found at the hub and cannot be read. They are fetched again when they change.',
  ),
  error: says(z.nullable(z.object({ code: text, detail: text })), 'Why the hub did not answer now; null if it did.'),
  hub: says(
    z.nullable(
      z.object({
        role: text,
        waiting: says(
          count,
          'Chats of the projects in hub.push that came to them by a working tree, a folder’s name or a merge. They wait for a push by hand.',
        ),
        machines: z.array(
          z.object({ uuid: text, name: text, user: text, chats: count, bytes: amount, pushedAt: maybeTime }),
        ),
        projects: z.array(z.object({ name: text, machines: count, chats: count, bytes: amount })),
        grants: z.array(z.object({ role: text, project: text, push: boolean })),
      }),
    ),
    'What this role sees of it; null if it did not answer, and during a push or pull.',
  ),
})
export type HubState = Answer<typeof hubAnswer>

export interface HubPushRequest {
  /** Null: what the settings say. */
  readonly projects: readonly string[] | null
  readonly isDryRun: boolean
}

/** Shares chats through a hub. Handed to the HTTP side, which only reads. All throw UserErrors that begin with `hub-`. */
export interface HubActs {
  push(request: HubPushRequest): Promise<HubPushed>
  /** @param projects null: what the settings say */
  pull(projects: readonly string[] | null): Promise<HubPulled>
  state(): Promise<HubState>
}
