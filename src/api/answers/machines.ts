import * as z from 'zod/mini'
import { named, says, text, type Answer } from './common.ts'

/** Another machine, from which a chat was pulled. */
export const machine = named(
  'Machine',
  z.object({
    name: says(text, 'Its label. Machines of different users may have the same one.'),
    user: says(text, 'The PostgreSQL role that owns it.'),
  }),
)
export type Machine = Answer<typeof machine>

export const maybeMachine = says(
  z.nullable(machine),
  'The machine from which the chat was pulled; null for this machine.',
)
