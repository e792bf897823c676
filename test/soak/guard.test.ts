import { expect, test } from 'vitest'
import { FullDisk } from '../helpers/guard/disk-full.ts'
import { lossyHome } from '../helpers/guard/lossy-home.ts'
import { damagePages, heal, Original } from '../helpers/guard/page-damage.ts'
import { damageWal, reopen, WalMirror } from '../helpers/guard/wal-damage.ts'

const HOUR_MS = 3_600_000
/** Other seeds than those of `npm test`. */
const FIRST_SEED = 10_000

test(
  'a WAL damaged at 2,000 places',
  () => {
    const mirror = new WalMirror(24)
    const wrong = Array.from({ length: 2000 }, (_, at) => FIRST_SEED + at).flatMap((seed) =>
      reopen(mirror, damageWal(mirror.wal, seed)).map((fault) => `seed ${seed}: ${fault}`),
    )
    mirror.remove()
    console.log(`wal damage: 2000 places in ${mirror.wal.length} bytes, ${wrong.length} wrong`)
    expect(wrong).toEqual([])
  },
  HOUR_MS,
)

test(
  'a disk that is full at 500 points',
  () => {
    const disk = new FullDisk(120)
    const wrong = Array.from({ length: 500 }, (_, at) => at / 500).flatMap((share) =>
      disk.fail(share).wrong.map((fault) => `at ${share}: ${fault}`),
    )
    console.log(`disk full: 500 points over ${disk.pages} pages, ${wrong.length} wrong`)
    disk.remove()
    expect(wrong).toEqual([])
  },
  HOUR_MS,
)

test(
  'pages overwritten in 500 mirrors',
  () => {
    const lossy = lossyHome(40, 25)
    const original = new Original(lossy)
    const wrong = Array.from({ length: 500 }, (_, at) => FIRST_SEED + at).flatMap((seed) => {
      const healed = heal(lossy, original, damagePages(original, seed))
      return [...healed.faults, ...healed.wrong].map((fault) => `seed ${seed}: ${fault}`)
    })
    console.log(`page damage: 500 mirrors of ${original.pages} pages, ${wrong.length} wrong`)
    original.remove()
    lossy.remove()
    expect(wrong).toEqual([])
  },
  HOUR_MS,
)
