import { expect } from 'vitest'
import { pause } from '../wait-until.ts'
import type { Writer } from './writer.ts'

/** A change to a store, with words that are nowhere else. */
interface Operation {
  readonly name: string
  /** The content of the store before. */
  readonly chats: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly act: (writer: Writer) => void | Promise<void>
  readonly found?: readonly string[]
  /** Found in both chats, because each chat keeps its messages. */
  readonly foundTwice?: readonly string[]
  readonly lost?: readonly string[]
}

export const rewrites: readonly Operation[] = [
  {
    name: 'a row replaced by an insert',
    chats: { replaced: { m1: 'amberold', m2: 'amberkept' } },
    act: (to) => to.insert('replaced', 'm1', 'ambernew'),
    found: ['ambernew', 'amberkept'],
    lost: ['amberold'],
  },
  {
    name: 'a row replaced by an upsert, which keeps the rowid',
    chats: { upserted: { m1: 'basaltold', m2: 'basaltkept' } },
    act: (to) => {
      const rowid = to.rowid('upserted', 'm1')
      to.upsert('upserted', 'm1', 'basaltnewer')
      expect(to.rowid('upserted', 'm1')).toBe(rowid)
    },
    found: ['basaltnewer', 'basaltkept'],
    lost: ['basaltold'],
  },
  {
    name: 'an update in place, of the same length',
    chats: { updated: { m1: 'cobaltold', m2: 'cobaltkept' } },
    act: (to) => to.update('updated', 'm1', 'cobaltnew'),
    found: ['cobaltnew', 'cobaltkept'],
    lost: ['cobaltold'],
  },
  {
    name: 'an update in place, of another length',
    chats: { lengthened: { m1: 'denimold', m2: 'denimkept' } },
    act: (to) => to.update('lengthened', 'm1', 'denimandalotmore'),
    found: ['denimandalotmore'],
    lost: ['denimold'],
  },
  {
    name: 'fifty rewrites of one message, as it streams',
    chats: { streamed: { m1: 'ember', m2: 'emberfirst' } },
    act: async (to) => {
      for (let step = 0; step < 50; step++) {
        to.insert('streamed', 'm2', `embers${letters(step)}`)
        await pause(10)
      }
    },
    found: ['ember', `embers${letters(49)}`],
    lost: ['emberfirst', ...[0, 20, 48].map((step) => `embers${letters(step)}`)],
  },
]

export const losses: readonly Operation[] = [
  {
    name: 'a deleted row that its chat still names',
    chats: { deleted: { m1: 'flintfirst', m2: 'flintgone', m3: 'flintlast' } },
    act: (to) => to.delete('deleted', 'm2'),
    found: ['flintfirst', 'flintgone', 'flintlast'],
  },
  {
    name: 'a deleted row that its chat no longer names',
    chats: { dropped: { m1: 'garnetfirst', m2: 'garnetgone', m3: 'garnetlast' } },
    act: (to) => {
      to.delete('dropped', 'm2')
      to.list('dropped', ['m1', 'm3'])
    },
    found: ['garnetfirst', 'garnetgone', 'garnetlast'],
  },
  {
    name: 'a completely deleted chat',
    chats: { vanished: { m1: 'hazelfirst', m2: 'hazelsecond' } },
    act: (to) => to.deleteChat('vanished'),
    found: ['hazelfirst', 'hazelsecond'],
  },
  {
    name: 'a chat row without a value, with its messages',
    chats: { emptied: { m1: 'indigofirst', m2: 'indigosecond' } },
    act: (to) => to.tombstone('emptied'),
    found: ['indigofirst', 'indigosecond'],
  },
  {
    name: 'a chat row without a value and without its messages',
    chats: { cleared: { m1: 'jasperfirst', m2: 'jaspersecond' } },
    act: (to) => {
      to.deleteChat('cleared')
      to.tombstone('cleared')
    },
    found: ['jasperfirst', 'jaspersecond'],
  },
]

export const returns: readonly Operation[] = [
  {
    name: 'the newest row deleted and inserted again at its rowid',
    chats: { returned: { m1: 'khakifirst', m2: 'khakiold' } },
    act: (to) => {
      const rowid = to.rowid('returned', 'm2')
      to.delete('returned', 'm2')
      to.insert('returned', 'm2', 'khakinew')
      expect(to.rowid('returned', 'm2')).toBe(rowid)
    },
    found: ['khakifirst', 'khakinew'],
    lost: ['khakiold'],
  },
  {
    name: 'the newest row deleted and another one inserted at its rowid',
    chats: { supplanted: { m1: 'lindenfirst', m2: 'lindengone' } },
    act: (to) => {
      const rowid = to.rowid('supplanted', 'm2')
      to.delete('supplanted', 'm2')
      to.insert('supplanted', 'm4', 'lindennew')
      expect(to.rowid('supplanted', 'm4')).toBe(rowid)
      to.list('supplanted', ['m1', 'm4'])
    },
    found: ['lindenfirst', 'lindennew', 'lindengone'],
  },
]

export const moves: readonly Operation[] = [
  {
    name: 'a key renamed in its chat',
    chats: { renamed: { m1: 'marblefirst', m2: 'marblesecond' } },
    act: (to) => {
      to.rename('renamed', 'm2', 'renamed', 'm4')
      to.list('renamed', ['m1', 'm4'])
    },
    found: ['marblefirst', 'marblesecond'],
  },
  {
    name: 'a message moved to another chat',
    chats: { left: { m1: 'nickelfirst', m2: 'nickelmoved' }, entered: { m3: 'nickelthird' } },
    act: (to) => {
      to.rename('left', 'm2', 'entered', 'm2')
      to.list('left', ['m1'])
      to.list('entered', ['m3', 'm2'])
    },
    found: ['nickelfirst', 'nickelthird'],
    foundTwice: ['nickelmoved'],
  },
  {
    name: 'a list in another order',
    chats: { reordered: { m1: 'ochrefirst', m2: 'ochresecond', m3: 'ochrethird' } },
    act: (to) => to.list('reordered', ['m3', 'm1', 'm2']),
    found: ['ochrefirst', 'ochresecond', 'ochrethird'],
  },
  {
    name: 'a shortened list, with all rows',
    chats: { shortened: { m1: 'pewterfirst', m2: 'pewtersecond', m3: 'pewterthird' } },
    act: (to) => to.list('shortened', ['m1']),
    found: ['pewterfirst', 'pewtersecond', 'pewterthird'],
  },
  {
    name: 'a longer list, with some rows still missing',
    chats: { extended: { m1: 'quartzfirst', m2: 'quartzsecond' } },
    act: (to) => {
      to.insert('extended', 'm3', 'quartzthird')
      to.list('extended', ['m1', 'm2', 'm5', 'm3'])
    },
    found: ['quartzfirst', 'quartzsecond', 'quartzthird'],
  },
]

export const upheavals: readonly Operation[] = [
  {
    name: 'a vacuum after deletions',
    chats: { holed: { m1: 'russetfirst', m2: 'russetgone', m3: 'russetold' } },
    act: (to) => {
      to.delete('holed', 'm2')
      to.insert('holed', 'm3', 'russetnew')
      to.vacuum()
      to.insert('holed', 'm1', 'russetafter')
    },
    found: ['russetafter', 'russetgone', 'russetnew'],
    lost: ['russetfirst', 'russetold'],
  },
  {
    name: 'all rows deleted and inserted again from rowid 1',
    chats: { renumbered: { m1: 'sablefirst', m2: 'sableold' } },
    act: (to) => {
      to.insert('renumbered', 'm2', 'sablenew')
      to.renumber()
    },
    found: ['sablefirst', 'sablenew'],
    lost: ['sableold'],
  },
  {
    name: 'the table dropped and created again with fewer rows',
    chats: { remade: { m1: 'topazold', m2: 'topazgone' } },
    act: (to) =>
      to.atOnce(() => {
        to.dropTable()
        to.createTable()
        to.chat('remade', { m1: 'topaznew' })
      }),
    found: ['topaznew', 'topazgone', 'amberkept'],
    lost: ['topazold'],
  },
  {
    name: 'the file replaced by another',
    chats: { swapped: { m1: 'umberold', m2: 'umberkept' }, forgotten: { m1: 'umbergone' } },
    act: (to) =>
      to.replaceFile((other) => {
        other.chat('swapped', { m1: 'umbernew', m2: 'umberkept' })
        other.chat('brought', { m1: 'umberbrought' })
      }),
    found: ['umbernew', 'umberkept', 'umbergone', 'umberbrought', 'amberkept'],
    lost: ['umberold'],
  },
  {
    name: 'the table dropped',
    chats: { bereft: { m1: 'violetfirst', m2: 'violetsecond' } },
    act: (to) => to.dropTable(),
    found: ['violetfirst', 'violetsecond'],
  },
]

/** The number of a step in letters, because digits would be a separate word. */
function letters(step: number): string {
  return String.fromCharCode(97 + Math.floor(step / 10), 97 + (step % 10))
}
