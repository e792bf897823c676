/**
 * Milliseconds of the processor that this process takes are the same however many share the machine.
 * @returns what tells those that it took since
 */
export function startCpuClock(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}
