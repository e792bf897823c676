/**
 * Memory for a process beside the daemon that takes as much as one that searches. As long as anybody has it, one search
 * runs at a time.
 */
export interface MemoryBudget {
  /** Resolves once no more than one process that searches is there; one that is at work answers before it ends. */
  make(): Promise<void>
  /** To be said once for each time that it was made. */
  giveBack(): void
}

/** Makes room, and gives it back whatever becomes of the work. */
export async function withMemoryBudget<Outcome>(room: MemoryBudget, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    await room.make()
    return await work()
  } finally {
    room.giveBack()
  }
}
