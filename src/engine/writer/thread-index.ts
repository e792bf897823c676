import { Worker } from 'node:worker_threads'
import type { UserError } from '../../model/user-error.ts'
import { OwnThread } from './own-thread.ts'

export type IndexOrder =
  /** The mirror changed, for the time with this number. */
  | { readonly act: 'nudge'; readonly num: number }
  /** These are answered one after the other. follow: merges also makes the tables small. */
  | { readonly act: 'follow'; readonly merges: boolean }
  | { readonly act: 'check'; readonly isThorough: boolean }
  | { readonly act: 'forget' }

export interface IndexStep {
  /** The last nudge that it covers. */
  readonly upTo: number
  /** How many messages and titles wait. */
  readonly left: number
  /** How often the file was made anew: readers have to open it again. */
  readonly timesRenewed: number
}

/** The full-text index of the mirror, which follows it. */
export interface IndexWriter {
  /** Resolves when everything that the mirror has now is searchable. @throws UserError if the index cannot be written */
  follow(): Promise<void>
  /** Compares it with the mirror. If it is not sound, it is made anew. @returns whether it was sound */
  check(isThorough: boolean): Promise<boolean>
  /** Removes every trace of words that nothing has any more. @returns false if readers of the file held that up */
  forgetWords(): Promise<boolean>
}

/** Objects of the thread are short-lived. More makes it hardly faster, and costs memory. */
const YOUNG_MB_MAX = 24

/** How long a step may still take when the program stops. */
const STOP_MS = 1000

/** Starts the thread that writes the index of a mirror. */
export const startIndexThread = (mirrorPath: string): Worker =>
  new Worker(new URL('../engine/index-thread.js', import.meta.url), {
    workerData: mirrorPath,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB_MAX },
  })

export type ThreadIndex = ReturnType<typeof threadIndex>

/** The index on a thread of its own. @param onError is told of each failure */
export function threadIndex(
  mirrorPath: string,
  onStep: (step: IndexStep) => void,
  onError: (error: UserError) => void,
) {
  let nudges = 0
  let last: IndexStep | null = null
  const thread = new OwnThread<IndexStep>({
    mirrorPath,
    failed: 'The full-text index cannot be written: ',
    diedCode: 'index-died',
    onStep(step) {
      last = step
      onStep(step)
    },
    onError,
  })
  const ask = async (order: IndexOrder): Promise<boolean> => Boolean(await thread.ask(order))
  /** The mirror changed. */
  const nudge = (): void => {
    nudges += 1
    thread.tell({ act: 'nudge', num: nudges } satisfies IndexOrder)
  }
  return {
    /**
     * Starts the thread. Call it when the mirror is there. While this process starts, another thread would slow it down.
     * Resolves when the index can be read.
     * @throws UserError
     */
    async open(start = startIndexThread): Promise<void> {
      thread.run(start(mirrorPath))
      await thread.opened
    },
    /** Whether nothing waits that it was told of. */
    get isCaughtUp(): boolean {
      return last?.upTo === nudges && last.left === 0
    },
    nudge,
    /** @param merges true for a command, which ends then: the tables are made small at once, and not when nothing comes */
    async follow(merges = false): Promise<void> {
      nudge()
      await ask({ act: 'follow', merges })
    },
    check: (isThorough: boolean) => ask({ act: 'check', isThorough }),
    forgetWords: () => ask({ act: 'forget' }),
    stop: () => thread.stop(STOP_MS),
  }
}
