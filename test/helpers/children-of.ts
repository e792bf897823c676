import { readdirSync, readFileSync } from 'node:fs'

/** A file of `/proc`; empty if its process or thread has ended meanwhile. */
function ofProcess(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

/** The processes that this one has started and that still run, on Linux. @param job only those with this argument */
export function childrenOf(pid: number, job?: string): number[] {
  const lists = readdirSync(`/proc/${pid}/task`).map((task) => ofProcess(`${pid}/task/${task}/children`))
  const children = lists.flatMap((list) => list.split(' ').filter((word) => word !== ''))
  return children
    .filter((child) => job === undefined || ofProcess(`${child}/cmdline`).split('\0').includes(job))
    .map(Number)
}
