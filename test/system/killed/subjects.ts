import type { Chance } from '../../helpers/cursor.ts'
import type { Subject } from './kill-rounds.ts'
import { KilledArchive, KilledPurge, KilledRestore } from './killed-commands.ts'
import { KilledDaemon } from './killed-daemon.ts'

const BULK_CHATS = 20

/** What is killed, by its name. @param rounds how often each phase is killed, at most ten times more */
export const subjects: Readonly<
  Record<'a daemon' | 'an archive run' | 'a restore' | 'a purge', (chance: Chance, rounds: number) => Subject>
> = {
  'a daemon': (chance) => new KilledDaemon(chance, BULK_CHATS),
  'an archive run': () => new KilledArchive(),
  'a restore': () => new KilledRestore(),
  'a purge': (_, rounds) => new KilledPurge(rounds + 10),
}
