import * as z from 'zod/mini'
import * as s from './common.ts'

const shared = {
  removed: s.count('Chats that were removed.'),
  unchanged: s.count('Chats that were there already.'),
  bytes: s.amount('Size of the objects that were moved.'),
}

export const hubPushAnswer = z.object({
  pushed: s.count('Chats that were sent.'),
  ...shared,
  leftOut: s.says(z.array(z.object({ id: s.text(), why: s.text() })), 'Chats that cannot be sent.'),
  notice: s.maybeText('That this mirror is a new machine at the hub, because it was copied or put back; else null.'),
})
export type HubPushed = s.Answer<typeof hubPushAnswer>

export const hubPullAnswer = z.object({ pulled: s.count('Chats that were fetched.'), ...shared })
export type HubPulled = s.Answer<typeof hubPullAnswer>

export const hubAnswer = z.object({
  url: s.maybeText('The address, without its password; null if no hub is set.'),
  machine: s.text('The label of this machine.'),
  atWork: z.nullable(z.object({ act: z.enum(['push', 'pull']), done: s.count(), total: s.count() })),
  lastPushAt: s.maybeTime(),
  lastPullAt: s.maybeTime(),
  purgesWaiting: s.count('Purges that the hub does not know yet.'),
  damaged: s.says(
    z.array(z.object({ machine: s.text(), chats: s.count() })),
    'How many chats of each machine, by its uuid, were found at the hub and cannot be read. They are fetched again when they change.',
  ),
  error: s.says(
    z.nullable(z.object({ code: s.text(), detail: s.text() })),
    'Why the hub did not answer now; null if it did.',
  ),
  hub: s.says(
    z.nullable(
      z.object({
        role: s.text(),
        waiting: s.count(
          'Chats of the projects in hub.push that came to them by a working tree, a folder’s name or a merge. They wait for a push by hand.',
        ),
        machines: z.array(
          z.object({
            uuid: s.text(),
            name: s.text(),
            user: s.text(),
            chats: s.count(),
            bytes: s.amount(),
            pushedAt: s.maybeTime(),
          }),
        ),
        projects: z.array(z.object({ name: s.text(), machines: s.count(), chats: s.count(), bytes: s.amount() })),
        grants: z.array(z.object({ role: s.text(), project: s.text(), push: s.boolean() })),
      }),
    ),
    'What this role sees of it; null if it did not answer, and during a push or pull.',
  ),
})
export type HubState = s.Answer<typeof hubAnswer>

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
