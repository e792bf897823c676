import { execFileSync } from 'node:child_process'
import { afterAll, expect, test } from 'vitest'
import { Compiled } from '../../helpers/compiled.ts'

/** The compiled program, because the limits affect a whole process, so the test needs a separate one. */
const limits = await Compiled.module('engine/heap-limits')
afterAll(() => limits.remove())

/** Creates garbage, some of which lives for a while. V8 then enlarges the young generation. */
const LITTER = `
  const kept = []
  for (let made = 0; made < 3_000_000; made += 1) kept[made % 50_000] = { made, more: [made] }
  const young = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size / 1024 ** 2
`
const THREAD = `
  import v8 from 'node:v8'
  import { parentPort } from 'node:worker_threads'
  ${LITTER}
  parentPort.postMessage(young)
`

/** The size of the young generation in megabytes after much garbage, in a thread and then in the main thread. */
function youngSpaces(isLimited: boolean): { readonly thread: number; readonly main: number } {
  const script = `
    import { once } from 'node:events'
    import v8 from 'node:v8'
    import { Worker } from 'node:worker_threads'
    import { holdYoungSpace, ingestHeapLimits, prepareIngestHeap } from '${limits.url}'
    if (${isLimited}) prepareIngestHeap()
    const source = new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(THREAD)}))
    const worker = new Worker(source, ${isLimited} ? { resourceLimits: ingestHeapLimits } : {})
    if (${isLimited}) worker.once('online', holdYoungSpace)
    const [thread] = await once(worker, 'message')
    ${LITTER}
    console.log(JSON.stringify({ thread, main: young }))
  `
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return JSON.parse(printed) as { thread: number; main: number }
}

test('after much garbage the young generation is small, in the writer’s thread and in the main thread', () => {
  const { thread, main } = youngSpaces(true)
  expect(thread).toBeLessThanOrEqual(8)
  expect(main).toBeLessThanOrEqual(8)
})

test('without the limits the same garbage takes more memory: V8 still needs them', () => {
  const { thread, main } = youngSpaces(false)
  expect(thread).toBeGreaterThan(8)
  expect(main).toBeGreaterThan(8)
})

/** Reads much, then rests. Reports the size of the young generation during both, in megabytes. */
const READS_AND_RESTS = `
  import { once } from 'node:events'
  import { setTimeout as sleep } from 'node:timers/promises'
  import v8 from 'node:v8'
  import { parentPort } from 'node:worker_threads'
  import { collectGarbage, holdYoungSpace, letYoungSpaceGrow } from '${limits.url}'
  const room = () => v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size / 1024 ** 2
  await once(parentPort, 'message')
  letYoungSpaceGrow()
  let kept = []
  for (let made = 0; made < 3_000_000; made += 1) kept[made % 50_000] = { made, more: [made] }
  const atWork = room()
  kept = null
  holdYoungSpace()
  collectGarbage()
  await sleep(6000)
  collectGarbage()
  parentPort.postMessage({ atWork, atRest: room() })
`

test('a thread that reads much has a larger young generation, and shrinks it at rest', () => {
  const script = `
    import { once } from 'node:events'
    import { Worker } from 'node:worker_threads'
    import { holdYoungSpace, ingestHeapLimits, prepareIngestHeap } from '${limits.url}'
    prepareIngestHeap()
    const source = new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(READS_AND_RESTS)}))
    const worker = new Worker(source, { resourceLimits: ingestHeapLimits })
    await once(worker, 'online')
    holdYoungSpace()
    worker.postMessage('read')
    const [rooms] = await once(worker, 'message')
    console.log(JSON.stringify(rooms))
  `
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  const { atWork, atRest } = JSON.parse(printed) as { atWork: number; atRest: number }
  expect(atWork).toBeGreaterThan(8)
  expect(atRest).toBeLessThanOrEqual(8)
})

test('a thread at rest keeps no garbage', () => {
  const script = `
    import { collectGarbage } from '${limits.url}'
    let litter = Array.from({ length: 300_000 }, (_, made) => ({ made, more: [made] }))
    const full = process.memoryUsage().heapUsed
    litter = null
    collectGarbage()
    console.log(JSON.stringify({ full, left: process.memoryUsage().heapUsed }))
  `
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  const { full, left } = JSON.parse(printed) as { full: number; left: number }
  expect(full - left).toBeGreaterThan(15 * 1024 ** 2)
})
